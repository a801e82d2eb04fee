/* A rank forks: the child ends as it would in any program. SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void at_exit(void) { puts("at exit"); }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const way = argc > 1 ? argv[1] : "";
  if (rank == 0) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      if (strcmp(way, "_exit") == 0) _exit(3);
      atexit(at_exit);
      if (strcmp(way, "exit") == 0) exit(3);
      if (strcmp(way, "return") == 0) return 3;
      if (strcmp(way, "sleep") == 0) {
        usleep(1000);
        dup2(2, 1);
        execl("/bin/sh", "sh", "-c", "echo child; exit 3", (char*)NULL);
      }
      _exit(9);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("%s %d\n", way, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
