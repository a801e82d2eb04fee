/* Each rank has its own copy of the program's libraries. SPDX-License-Identifier: Apache-2.0 */
#include "own_library.h"

#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, wrong = 0, all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  remember_rank();
  remembered_inline(rank);
  MPI_Barrier(MPI_COMM_WORLD);
  wrong += remembered_rank() != rank;
  wrong += remembered_through() != rank;
  wrong += remembered_inline(-1) != rank;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all);
  MPI_Finalize();
  end_by_library(rank == 1 ? 5 : 0);
}
