/* exit() and its like end the rank that calls them, not the process of all ranks.
   SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

/* The program wormcube's; there is none before the program has become a run of it. */
__attribute__((weak, visibility("default"), noreturn)) extern void wormcube_rank_exit(int code, int with_handlers);

#define RANK_STATE __attribute__((visibility("hidden")))

RANK_STATE void exit(int code) {
  if (wormcube_rank_exit) wormcube_rank_exit(code, 1);
  for (;;) __builtin_trap();
}
RANK_STATE void _exit(int code) {
  if (wormcube_rank_exit) wormcube_rank_exit(code, 0);
  for (;;) __builtin_trap();
}
RANK_STATE void _Exit(int code) { _exit(code); }
RANK_STATE void quick_exit(int code) { _exit(code); }
