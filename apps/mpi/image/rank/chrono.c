/* The clocks of C++ (std::chrono of libstdc++), implemented with the rank's functions (time.c).
   SPDX-License-Identifier: Apache-2.0 */
#include <time.h>

/* Weak, because a program may be linked with the library's archive. */
#define CLOCK(function, name, which)                                                          \
  __attribute__((visibility("hidden"), weak)) long long function(void) __asm__(name);         \
  long long function(void) {                                                                  \
    struct timespec now;                                                                      \
    clock_gettime(which, &now);                                                               \
    return (long long)now.tv_sec * 1000000000 + now.tv_nsec;                                  \
  }

CLOCK(steady_now, "_ZNSt6chrono3_V212steady_clock3nowEv", CLOCK_MONOTONIC)
CLOCK(system_now, "_ZNSt6chrono3_V212system_clock3nowEv", CLOCK_REALTIME)
