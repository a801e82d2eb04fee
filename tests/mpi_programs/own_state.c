/* State of the system's library is separate for each rank. SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int at_exit_of = -1;
static void at_exit(void) {
  if (at_exit_of == 1) puts("rank 1 has ended");
}

int main(int argc, char **argv) {
  MPI_Init(NULL, NULL);
  int rank, size, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  at_exit_of = rank;
  atexit(at_exit);
  /* Each step of each rank lies between those of others. */
  static const struct option longs[] = {{"number", required_argument, NULL, 'n'}, {"flag", no_argument, NULL, 'f'}, {NULL, 0, NULL, 0}};
  int number = 0, flags = 0, found;
  srand(42);
  char text[] = "a b c d e f g h", *word = strtok(text, " ");
  long sum = 0;
  while ((found = getopt_long(argc, argv, "n:fx", longs, NULL)) != -1) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (found == 'n') number += atoi(optarg);
    if (found == 'f') ++flags;
    sum += rand();
    word = strtok(NULL, " ");
  }
  wrong += number != 12 || flags != 2 || argc - optind != 2 || strcmp(argv[optind], "plain") != 0;
  wrong += word == NULL || *word != 'e' || sum != 71876166L + 708592740L + 1483128881L + 907283241L;
  long all = 0;
  MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  int all_wrong;
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong, %d\n", all_wrong, all == size * sum);
  MPI_Finalize();
  exit(0);
}
