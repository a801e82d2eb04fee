/* Ranks above 0 silence or redirect their standard output in one way; rank 0 goes on.
   redirected WAY [FILE]
   SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank;

static void redirect(const char* way, const char* file) {
  char name[1000];
  snprintf(name, sizeof name, "%s.%d", file, rank);
  if (strcmp(way, "freopen") == 0) freopen("/dev/null", "w", stdout);
  if (strcmp(way, "fclose") == 0) fclose(stdout);
  if (strcmp(way, "close") == 0) fflush(stdout), close(1);
  if (strcmp(way, "file") == 0) freopen(name, "w", stdout);
  if (strcmp(way, "dup2") == 0) {
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, 1);
    close(null);
  }
  if (strcmp(way, "fileno") == 0) {
    const int log = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    fflush(stdout);
    dup2(log, fileno(stdout));
    close(log);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char *const way = argc > 1 ? argv[1] : "", *const file = argc > 2 ? argv[2] : "";
  printf("%d before\n", rank);
  MPI_Barrier(MPI_COMM_WORLD);
  const int kept = strcmp(way, "dup2") == 0 ? dup(1) : -1;
  if (rank > 0) redirect(way, file);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("%d printf\n", rank);
  puts(rank == 0 ? "0 puts" : "other puts");
  fprintf(stdout, "%d fprintf\n", rank);
  putchar('0' + rank), putchar('\n');
  fflush(stdout);
  char text[20];
  const int length = snprintf(text, sizeof text, "%d write\n", rank);
  if (write(1, text, (size_t)length) != length && rank == 0) return 1;
  if (strcmp(way, "dup2") == 0) { /* and back */
    fflush(stdout);
    dup2(kept, 1);
    printf("%d after\n", rank);
  }
  MPI_Finalize();
  return 0;
}
