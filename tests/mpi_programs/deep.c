/* deep KIB: a rank uses this much of its stack, in one large array; 0: by endless recursion.
   SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int recursion(int n) {
  volatile char some[200];
  some[0] = (char)n;
  return n == 0 ? 0 : recursion(n - 1) + some[0];
}
static void large(size_t bytes) {
  volatile char array[bytes];
  array[0] = 1; /* the low end only */
  MPI_Barrier(MPI_COMM_WORLD);
  array[0] += array[bytes - 1];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const size_t kib = argc > 1 ? (size_t)atol(argv[1]) : 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2 && kib == 0) recursion(1 << 30);
  if (rank == 2) large(kib << 10);
  if (rank != 2) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}
