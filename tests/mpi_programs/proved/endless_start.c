/* A program whose first statement, before main(), never ends. SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>

__attribute__((constructor)) static void turn_for_ever(void) {
  for (volatile int turns = 0;; ++turns) {
  }
}

int MPI_Barrier(MPI_Comm comm) { return PMPI_Barrier(comm); }
