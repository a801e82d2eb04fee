/* Standard input belongs to rank 0, which reports what each rank reads with each function.
   SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { most = 200 };

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, number = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char report[most] = "", line[20] = "";
  const int words = scanf("%d", &number), letter = getchar();
  const int has_line = fgets(line, sizeof line, stdin) != NULL, next = fgetc(stdin), again = ungetc(next, stdin);
  size_t rest = 0;
  while (getchar() != EOF) ++rest;
  const int at_end = feof(stdin) != 0;
  char byte;
  const int left = (int)read(STDIN_FILENO, &byte, 1);
  line[strcspn(line, "\n")] = '\0';
  snprintf(report, sizeof report, "%d %d, %d, %d '%.20s', %d %d, %d more, %d %d", words, number, letter, has_line, line, next, again, (int)rest, at_end, left);
  char all[most * 64];
  MPI_Gather(report, most, MPI_CHAR, all, most, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int r = 0; rank == 0 && r < size; ++r) printf("%d: %s\n", r, all + most * r);
  /* A file in its place is each rank's own. */
  FILE *const other = argc > 1 ? freopen(argv[1], "r", stdin) : NULL;
  int first = other == NULL ? 0 : getchar(), of_all = 0;
  MPI_Allreduce(&first, &of_all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) printf("%c\n", of_all);
  MPI_Finalize();
}
