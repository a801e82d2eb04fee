/* What libmpi_abi.so.1 and the program agree on: a table with a pointer for each MPI function.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef WORMCUBE_MPI_FUNCTIONS_H
#define WORMCUBE_MPI_FUNCTIONS_H

#include "wormcube/mpi/mpi.h" /* written by the build, as functions.def is */

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A member with the name of each function; null if it is not provided. */
struct WormcubeMpiFunctions {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): types and names, not values */
#define WORMCUBE_MPI_FUNCTION(result, name, parameters, arguments) result(*name) parameters;
#include "wormcube/mpi/functions.def"
#undef WORMCUBE_MPI_FUNCTION
};

/* The program `wormcube` exports one, wormcube_mpi_program, complete before it loads the library,
   which looks for that name and keeps a copy of the table. */
struct WormcubeMpiProgram {
  size_t bytes; /* of the table; another size means another version, which is refused */
  const struct WormcubeMpiFunctions* functions;
  /* Called instead of a function whose pointer is null. Does not return. */
  void (*not_provided)(const char* name);
};

#ifdef __cplusplus
}
#endif

#endif
