/* Rank 0 receives messages as they arrive.
   `race` prints what depends on their order, `right` what does not, `hidden`
   waits for a message from the last rank that the wildcard may have taken; in
   `taken` it has. SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, value, sum = 0, mixed = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(argv[1], "taken") == 0 || strcmp(argv[1], "taken_by_request") == 0) {
    /* the wildcard takes what the second receive waits for; rank 1 goes on to its end, or to a barrier */
    if (rank == 1) {
      MPI_Send(&rank, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    } else if (rank == 0 && argv[1][5] == 0) {
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 0) {
      MPI_Request request;
      MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Recv(&value, 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (argv[1][5] != 0) MPI_Barrier(MPI_COMM_WORLD);
  } else if (rank > 0) {
    MPI_Send(&rank, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
  } else if (strcmp(argv[1], "hidden") == 0) {
    for (int i = 1; i + 1 < size; ++i) MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&value, 1, MPI_INT, size - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    for (int i = 1; i < size; ++i) {
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      sum += value;
      mixed = 10 * mixed + value;
    }
    printf("%d\n", strcmp(argv[1], "race") == 0 ? mixed : sum);
  }
  MPI_Finalize();
  return 0;
}
