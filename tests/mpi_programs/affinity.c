/* Rank 0 binds its own thread to one core: the other ranks keep theirs, and a thread that it starts has the system's.
   SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int wrong;
static void check(int is_right, const char *what) {
  if (is_right) return;
  ++wrong;
  printf("wrong: %s\n", what);
}

static cpu_set_t cores(void) {
  cpu_set_t by_thread, by_process, by_zero;
  check(pthread_getaffinity_np(pthread_self(), sizeof by_thread, &by_thread) == 0, "the thread's own");
  check(sched_getaffinity(0, sizeof by_zero, &by_zero) == 0 && CPU_EQUAL(&by_thread, &by_zero), "0 is the thread");
  check(sched_getaffinity(getpid(), sizeof by_process, &by_process) == 0 && CPU_EQUAL(&by_thread, &by_process), "so is the process");
  return by_thread;
}

static void *other_thread(void *before) {
  cpu_set_t found;
  check(pthread_getaffinity_np(pthread_self(), sizeof found, &found) == 0 && CPU_EQUAL(&found, (cpu_set_t *)before),
        "another thread is not bound");
  return NULL;
}

int main(int argc, char **argv) {
  int rank, first = 0, all;
  pthread_t thread;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cpu_set_t before = cores(), one, none, after;
  while (!CPU_ISSET(first, &before)) ++first;
  CPU_ZERO(&none);
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  check(sched_setaffinity(0, sizeof none, &none) == -1 && errno == EINVAL, "no core");
  check(pthread_setaffinity_np(pthread_self(), sizeof none, &none) == EINVAL, "no core");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) check(pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0, "binds itself");
  if (rank == 1) check(sched_setaffinity(0, sizeof one, &one) == 0, "binds itself");
  MPI_Barrier(MPI_COMM_WORLD);
  after = cores();
  check(CPU_EQUAL(&after, rank < 2 ? &one : &before), "each rank has its own cores");
  pthread_create(&thread, NULL, other_thread, &before);
  pthread_join(thread, NULL);
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all);
  MPI_Finalize();
}
