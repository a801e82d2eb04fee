/* What a recording of a run shows. `chain`: each rank passes on what it gets (`timed`: and says when). `exchange`: three rounds with both neighbours, all at once. `accesses`: of three
   ranks' memory (`timed_put`: and how long one took). `marked`: some of it is not recorded. SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  char out[64] = "", in[2][64];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  if (strcmp(argv[1], "chain") == 0) {
    if (rank > 0) MPI_Recv(in[0], 64, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank + 1 < size) MPI_Send(out, 64, MPI_CHAR, next, rank, MPI_COMM_WORLD);
  } else if (strcmp(argv[1], "exchange") == 0) {
    for (int round = 0; round < 3; ++round) {
      MPI_Request requests[4];
      MPI_Irecv(in[0], 64, MPI_CHAR, previous, 1, MPI_COMM_WORLD, requests);
      MPI_Irecv(in[1], 64, MPI_CHAR, next, 2, MPI_COMM_WORLD, requests + 1);
      MPI_Isend(out, 64, MPI_CHAR, next, 1, MPI_COMM_WORLD, requests + 2);
      MPI_Isend(out, 64, MPI_CHAR, previous, 2, MPI_COMM_WORLD, requests + 3);
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
  } else if (strcmp(argv[1], "timed") == 0) { /* the chain again */
    if (rank > 0) MPI_Recv(in[0], 64, MPI_CHAR, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double now = MPI_Wtime();
    if (MPI_Wtick() == 1) {
      printf("%.0f\n", now);
    } else {
      printf("%.2f\n", now * 1e6 - rank); /* those before have looked, too */
    }
    if (rank + 1 < size) MPI_Send(out, 64, MPI_CHAR, next, 0, MPI_COMM_WORLD);
  } else if (strcmp(argv[1], "accesses") == 0 || strcmp(argv[1], "timed_put") == 0) {
    MPI_Win window;
    char memory[64] = "";
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    const double before = MPI_Wtime();
    if (rank == 0) MPI_Put(out, 64, MPI_CHAR, 1, 0, 64, MPI_CHAR, window);
    const double after = MPI_Wtime();
    if (rank == 0 && strcmp(argv[1], "timed_put") == 0) printf("%.2f\n", MPI_Wtick() == 1 ? after - before : (after - before) * 1e6 - 1);
    MPI_Win_fence(0, window);
    if (rank == 1) {
      MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, window);
      MPI_Get(in[0], 32, MPI_CHAR, 2, 0, 32, MPI_CHAR, window);
      MPI_Win_unlock(2, window);
    } else if (rank == 2) {
      MPI_Win_lock(MPI_LOCK_SHARED, 2, 0, window);
      MPI_Accumulate(out, 16, MPI_BYTE, 2, 32, 16, MPI_BYTE, MPI_BOR, window);
      MPI_Win_unlock(2, window);
    }
    MPI_Win_free(&window);
  } else {
    for (int round = 0; round < 3; ++round) {
      MPI_Pcontrol(round == 1);
      MPI_Sendrecv(out, 64, MPI_CHAR, next, round, in[0], 64, MPI_CHAR, previous, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Pcontrol(2, "done");
    }
    MPI_Pcontrol(1);
  }
  MPI_Finalize();
  return 0;
}
