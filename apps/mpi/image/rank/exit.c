/* exit() and similar functions end the rank that calls them, not the process of all ranks.
   SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

/* Defined by wormcube. A program that is started directly and calls no MPI has none. */
__attribute__((weak, visibility("default"), noreturn)) extern void wormcube_rank_exit(
    int code, int with_handlers);

/* For the program and its libraries. */
#define RANK_STATE __attribute__((visibility("default"), weak))

static _Noreturn void end(const char* name, int code, int with_handlers) {
  if (wormcube_rank_exit) wormcube_rank_exit(code, with_handlers);
  void (*system_function)(int);
  *(void**)&system_function = dlsym(RTLD_NEXT, name);
  system_function(code);
  for (;;) __builtin_trap();
}
RANK_STATE void exit(int code) { end("exit", code, 1); }
RANK_STATE void _exit(int code) { end("_exit", code, 0); }
RANK_STATE void _Exit(int code) { end("_Exit", code, 0); }
RANK_STATE void quick_exit(int code) { end("quick_exit", code, 0); }
