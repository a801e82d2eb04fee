/* A token goes round, each rank adds to it; and round the other way, longer. SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

void ring(void) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  Number token = 1;
  for (int turn = 0; turn < 3; ++turn) {
    if (rank > 0) MPI_Recv(&token, 1, MPI_UNSIGNED_LONG_LONG, previous, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    token = token * 31 + (Number)rank;
    MPI_Request request;
    MPI_Isend(&token, 1, MPI_UNSIGNED_LONG_LONG, next, turn, MPI_COMM_WORLD, &request);
    Number last = token;
    if (rank == 0) MPI_Recv(&last, 1, MPI_UNSIGNED_LONG_LONG, previous, turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    token = last;
  }
  tell_sum("ring", token);
}
