/* Each rank sends its name, in order: rank 0 prints them. SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int counter; /* a rank's own */

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  counter += rank + 1;
  char line[100];
  snprintf(line, sizeof line, "rank %d of %d, %d words, counter %d", rank, size, argc, counter);
  if (rank > 0) {
    MPI_Send(line, (int)strlen(line) + 1, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
  } else {
    puts(line);
    for (int i = 1; i < size; ++i) {
      MPI_Status status;
      int count;
      MPI_Recv(line, sizeof line, MPI_CHAR, i, 7, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_CHAR, &count);
      printf("%s (%d from %d, tag %d)\n", line, count, status.MPI_SOURCE, status.MPI_TAG);
    }
  }
  MPI_Finalize();
  return 0;
}
