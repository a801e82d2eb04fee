/* `long`: rank 0 sleeps for longer than nanoseconds can be counted, rank 1 ends the job. `sleep`: rank 1 sleeps while the others talk. `poll FILE`: ranks ask for a message that nobody sends, until there is the
   file, and rank 0 waits for one of rank 1.
   SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void talk(int rank) {
  const struct timespec nap = {0, 1000}, wrong = {0, -1};
  struct timespec rest = {1, 1};
  int rounds = 0, there = 0, go_on = 1, faults = 0;
  if (rank == 1) {
    faults += sleep(0) != 0;
    faults += usleep(300000) != 0;
    faults += nanosleep(&nap, &rest) != 0 || rest.tv_sec != 0 || rest.tv_nsec != 0;
    errno = 0;
    faults += nanosleep(&wrong, NULL) != -1 || errno != EINVAL;
    faults += clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &nap, NULL) != 0;
    faults += sched_yield() != 0;
    MPI_Send(&faults, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  } else if (rank == 0) {
    while (go_on) {
      MPI_Iprobe(1, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
      go_on = !there;
      MPI_Send(&go_on, 1, MPI_INT, 2, 2, MPI_COMM_WORLD);
      MPI_Recv(&go_on, 1, MPI_INT, 2, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      ++rounds;
    }
    MPI_Recv(&faults, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%d wrong, %s rounds meanwhile\n", faults, rounds > 2 ? "many" : "no");
  } else if (rank == 2) {
    while (go_on) {
      MPI_Recv(&go_on, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&go_on, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    }
  }
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, there = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(argv[1], "sleep") == 0) {
    talk(rank);
  } else if (strcmp(argv[1], "long") == 0) {
    const struct timespec ages = {LONG_MAX, 999999999};
    if (rank == 0) {
      nanosleep(&ages, NULL);
      MPI_Abort(MPI_COMM_WORLD, 7);
    }
    for (int i = 0; i < 100; ++i) sched_yield();
    MPI_Abort(MPI_COMM_WORLD, 5);
  } else if (rank == 0) {
    MPI_Recv(&there, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    while (!there && access(argv[2], F_OK) != 0) MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&there, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
