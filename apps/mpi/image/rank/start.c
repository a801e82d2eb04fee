/* What `wormcube mpicc` adds to each program: it is a library, loaded for each rank, and a program.
   SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The system's loader, without which the kernel would not start a library. */
#if defined __x86_64__
#define LOADER "/lib64/ld-linux-x86-64.so.2"
#elif defined __aarch64__
#define LOADER "/lib/ld-linux-aarch64.so.1"
#elif defined __i386__
#define LOADER "/lib/ld-linux.so.2"
#elif defined __powerpc64__
#define LOADER "/lib64/ld64.so.2"
#elif defined __riscv && __riscv_xlen == 64
#define LOADER "/lib/ld-linux-riscv64-lp64d.so.1"
#else
#error "unknown name of this system's loader"
#endif
__attribute__((section(".interp"), used)) static const char loader[] = LOADER;

/* main may be hidden; these are not. A shared library linked with this has no main. */
__attribute__((weak)) extern int main(int argc, char **argv, char **environment);
__attribute__((visibility("default"))) int (*const wormcube_rank_main)(int, char **,
                                                                       char **) = main;

extern void *__dso_handle;
extern void __cxa_finalize(void *);

/* The end of a rank: atexit functions and destructors of globals, the last first. */
__attribute__((visibility("default"))) void wormcube_rank_finish(void) {
  __cxa_finalize(&__dso_handle);
}

/* The program's libraries may call these even if the program does not: one from each other file. */
__attribute__((visibility("hidden"), used)) void *const wormcube_rank_state[] = {
    (void *)exit, (void *)random,  (void *)getopt, (void *)nanosleep,
    (void *)dup2, (void *)getchar, (void *)printf,  (void *)sched_getaffinity};
