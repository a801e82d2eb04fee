/* Inside libmpi_abi.so.1: the table, and the function that fills it.
   SPDX-License-Identifier: Apache-2.0 */
#ifndef WORMCUBE_MPI_LIBRARY_H
#define WORMCUBE_MPI_LIBRARY_H

#include "wormcube/apps/mpi/abi/functions.h"

/* Empty until the program has been found. */
extern struct WormcubeMpiFunctions wormcube_mpi_functions __attribute__((visibility("hidden")));

/* Ends the process: this function is not in the table. */
__attribute__((visibility("hidden"), noreturn, cold)) void wormcube_mpi_missing(const char* name);

#endif
