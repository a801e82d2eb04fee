/* Rank 0 gives tasks to whoever is idle: results come from any source, by any tag. SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

enum { TASKS = 24, WORK = 1, END = 2 };

static void give(void) {
  int given = 0, working = 0;
  Number sum = 0;
  for (int worker = 1; worker < size; ++worker, ++given, ++working)
    MPI_Send(&given, 1, MPI_INT, worker, WORK, MPI_COMM_WORLD);
  while (working > 0) {
    MPI_Status status;
    Number result[2];
    MPI_Recv(result, 2, MPI_UNSIGNED_LONG_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    sum += result[1] * (Number)status.MPI_TAG; /* its tag is the task's number, from 1 on */
    if (result[0] != (Number)status.MPI_SOURCE) printf("tasks: a result comes from another rank\n");
    if (given < TASKS) {
      MPI_Send(&given, 1, MPI_INT, status.MPI_SOURCE, WORK, MPI_COMM_WORLD);
      ++given;
    } else {
      MPI_Send(&given, 0, MPI_INT, status.MPI_SOURCE, END, MPI_COMM_WORLD);
      --working;
    }
  }
  if (size > 1) printf("tasks: %llu\n", size - 1 <= TASKS ? sum : 0);
}

static void work(void) {
  for (;;) {
    int task, bytes;
    MPI_Status status;
    MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &bytes);
    MPI_Recv(&task, bytes, MPI_INT, 0, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (status.MPI_TAG == END) return;
    Number state = (Number)task;
    const Number result[2] = {(Number)rank, below(1000, &state)};
    MPI_Send(result, 2, MPI_UNSIGNED_LONG_LONG, 0, task + 1, MPI_COMM_WORLD);
  }
}

void tasks(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  rank == 0 ? give() : work();
  MPI_Barrier(MPI_COMM_WORLD);
}
