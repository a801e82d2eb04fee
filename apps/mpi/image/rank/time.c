/* The time: with --clock model or steps the rank's own, from 0; otherwise the system's.
   SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

/* Defined by wormcube: whether the rank has a clock of its own, and its nanoseconds. Absent in a
   program that has not become a run of wormcube yet. */
__attribute__((weak, visibility("default"))) extern int wormcube_rank_clock(long long *nanoseconds);

/* Weak: a program may define functions of these names. */
#define RANK_STATE __attribute__((visibility("hidden"), weak))

enum { per_second = 1000000000 };

static int own_time(long long *nanoseconds) {
  return wormcube_rank_clock != NULL && wormcube_rank_clock(nanoseconds);
}

/* The system's function, by its type; this file's function of that name is skipped. */
#define SYSTEMS(function, ...)         \
  static int (*function)(__VA_ARGS__); \
  if (function == NULL) *(void **)&function = dlsym(RTLD_DEFAULT, #function)

RANK_STATE int clock_gettime(clockid_t clock, struct timespec *time) {
  long long now;
  if (own_time(&now)) {
    *time = (struct timespec){.tv_sec = now / per_second, .tv_nsec = now % per_second};
    return 0;
  }
  SYSTEMS(clock_gettime, clockid_t, struct timespec *);
  return clock_gettime(clock, time);
}

RANK_STATE int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  long long now;
  if (own_time(&now)) {
    *time = (struct timeval){.tv_sec = now / per_second, .tv_usec = now % per_second / 1000};
    return 0;
  }
  SYSTEMS(gettimeofday, struct timeval *, void *);
  return gettimeofday(time, zone);
}

RANK_STATE int timespec_get(struct timespec *time, int base) {
  return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}

RANK_STATE time_t time(time_t *place) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now); /* as the system's time() does */
  if (place != NULL) *place = now.tv_sec;
  return now.tv_sec;
}

RANK_STATE clock_t clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * CLOCKS_PER_SEC + now.tv_nsec / (per_second / CLOCKS_PER_SEC);
}
