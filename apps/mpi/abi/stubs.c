/* libmpi_abi.so.1: each function calls the program's through a table of addresses.
   SPDX-License-Identifier: Apache-2.0 */
#include "wormcube/apps/mpi/abi/functions.h"
#include "wormcube/apps/mpi/abi/library.h"

#include <stdlib.h>

/* One load and a jump, so that the program sees the user's code as its caller. MPI_X is weak, so
   that a tool can define its own, and is in the library of PMPI_X, where objects compiled with
   other headers look for it. */
#define WORMCUBE_MPI_FUNCTION(result, name, parameters, arguments)        \
  result P##name parameters {                                             \
    if (wormcube_mpi_functions.name == NULL) wormcube_mpi_missing(#name); \
    return wormcube_mpi_functions.name arguments;                         \
  }                                                                       \
  result name parameters __attribute__((weak, alias("P" #name)));
#include "wormcube/mpi/functions.def"
