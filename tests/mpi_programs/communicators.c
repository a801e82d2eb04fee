/* Two communicators with the same ranks never receive each other's messages.
   SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, wrong = 0, result, flag;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm copy, reversed, none;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &none);
  wrong += (rank == 0) != (none == MPI_COMM_NULL);
  MPI_Comm_compare(MPI_COMM_WORLD, copy, &result);
  wrong += result != MPI_CONGRUENT;
  MPI_Comm_compare(MPI_COMM_WORLD, reversed, &result);
  wrong += size > 1 && result != MPI_SIMILAR;
  int there;
  MPI_Comm_rank(reversed, &there);
  wrong += there != size - 1 - rank;
  /* The same tag on each, received in another order than sent, with wildcards. */
  const int next = (rank + 1) % size;
  MPI_Comm on[3] = {MPI_COMM_WORLD, copy, reversed};
  MPI_Request requests[3];
  int out[3], in;
  for (int i = 0; i < 3; ++i) {
    out[i] = 10 * rank + i;
    MPI_Isend(out + i, 1, MPI_INT, i < 2 ? next : size - 1 - next, 5, on[i], requests + i);
  }
  for (int i = 2; i >= 0; --i) {
    MPI_Status status;
    MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, on[i], &status);
    const int from = (rank + size - 1) % size;
    wrong += in != 10 * from + i || status.MPI_SOURCE != (i < 2 ? from : size - 1 - from);
  }
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  /* A message of the program lies there while collectives run. */
  MPI_Isend(out, 1, MPI_INT, next, 0, MPI_COMM_WORLD, requests);
  for (int i = 0; i < 20; ++i) {
    int value = rank + i, sum = 0, first = rank;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, on[i % 3]);
    wrong += sum != size * (size - 1) / 2 + size * i;
    MPI_Bcast(&first, 1, MPI_INT, i % size, on[(i + 1) % 3]);
    wrong += first != ((i + 1) % 3 == 2 ? size - 1 - i % size : i % size);
  }
  MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  for (int i = 0; i < 1000; ++i) { /* numbers are given back */
    MPI_Comm another;
    MPI_Comm_dup(copy, &another);
    MPI_Barrier(another);
    MPI_Comm_free(&another);
    wrong += another != MPI_COMM_NULL;
  }
  MPI_Comm_test_inter(copy, &flag);
  wrong += flag;
  MPI_Comm_free(&copy);
  MPI_Comm_free(&reversed);
  if (none != MPI_COMM_NULL) MPI_Comm_free(&none);
  int all;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all);
  MPI_Finalize();
  return wrong != 0;
}
