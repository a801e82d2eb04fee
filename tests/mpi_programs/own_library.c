/* Two libraries of the program's own, with a global: INNER, and OUTER, which needs it.
   SPDX-License-Identifier: Apache-2.0 */
#include "own_library.h"

#include <mpi.h>
#include <stdlib.h>

#ifdef INNER
static int rank = -1;
void remember_rank(void) { MPI_Comm_rank(MPI_COMM_WORLD, &rank); }
int remembered_rank(void) { return rank; }
void end_by_library(int code) { exit(code); }
#endif
#ifdef OUTER
int remembered_through(void) { return remembered_rank(); }
#endif
#ifdef STATIC_THREAD_LOCAL
static _Thread_local int rank __attribute__((tls_model("initial-exec"))) = -1;
int remembered_through(void) { return rank++; }
#endif
