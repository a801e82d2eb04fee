/* What --strict refuses, one case a run, and what it lets pass. SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int is(char **argv, const char *name) { return strcmp(argv[1], name) == 0; }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, numbers[8] = {0};
  double values[4] = {0};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Status *const none = MPI_STATUS_IGNORE;
  const MPI_Comm all = MPI_COMM_WORLD;
  if (is(argv, "types")) {
    if (rank == 1) MPI_Send(numbers, 2, MPI_INT, 0, 3, all);
    if (rank == 0) MPI_Recv(values, 1, MPI_DOUBLE, 1, 3, all, none);
  } else if (is(argv, "types_of_requests")) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 1) MPI_Isend(numbers, 4, MPI_INT, 0, 3, all, &request);
    if (rank == 0) MPI_Irecv(numbers, 4, MPI_UNSIGNED, 1, 3, all, &request);
    MPI_Wait(&request, none);
  } else if (is(argv, "ready")) {
    if (rank == 1) MPI_Rsend(numbers, 1, MPI_INT, 0, 3, all);
    MPI_Barrier(all);
    if (rank == 0) MPI_Recv(numbers, 1, MPI_INT, 1, 3, all, none);
  } else { /* the same elements, in other types; fewer than there is room for; packed; ready */
    MPI_Datatype pair, sparse;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_vector(4, 1, 2, MPI_INT, &sparse);
    MPI_Type_commit(&pair);
    MPI_Type_commit(&sparse);
    char packed[64];
    int place = 0, got = 0;
    MPI_Request request;
    MPI_Status status;
    if (rank == 1) {
      MPI_Send(numbers, 2, pair, 0, 1, all);
      MPI_Send(numbers, 3, MPI_INT, 0, 2, all);
      MPI_Pack(numbers, 4, MPI_INT, packed, sizeof packed, &place, all);
      MPI_Send(packed, place, MPI_PACKED, 0, 3, all);
      MPI_Ssend(numbers, 4, MPI_INT, 0, 4, all);
      MPI_Sendrecv_replace(numbers, 1, MPI_INT, 0, 5, 0, 5, all, none);
      MPI_Recv(NULL, 0, MPI_INT, 0, 6, all, none);
      MPI_Rsend(numbers, 1, MPI_INT, 0, 7, all);
    }
    if (rank == 0) {
      MPI_Recv(numbers, 1, sparse, 1, 1, all, none);
      MPI_Recv(numbers, 4, pair, 1, 2, all, &status);
      MPI_Get_elements(&status, pair, &got);
      MPI_Recv(numbers, 4, MPI_INT, 1, 3, all, none);
      MPI_Recv(packed, sizeof packed, MPI_PACKED, 1, 4, all, none);
      MPI_Sendrecv_replace(numbers, 1, MPI_INT, 1, 5, 1, 5, all, none);
      MPI_Irecv(numbers, 1, MPI_INT, 1, 7, all, &request);
      MPI_Send(NULL, 0, MPI_INT, 1, 6, all);
      MPI_Wait(&request, none);
      printf("%d elements\n", got);
    }
    MPI_Type_free(&pair);
    MPI_Type_free(&sparse);
  }
  MPI_Finalize();
  return 0;
}
