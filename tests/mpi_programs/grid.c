/* A grid on a network of 4 x 4 nodes, whose nodes are the ranks: with `reorder` its neighbours are neighbours there.
   SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int world_rank;

/* The most hops between neighbours of the grid, on a mesh. */
static int hops(int dimensions, const int *sides, int period, int reorder) {
  MPI_Comm grid;
  const int periods[] = {period, period, period};
  int most = 0;
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, sides, periods, reorder, &grid);
  if (grid != MPI_COMM_NULL) {
    for (int d = 0; d < dimensions; ++d) {
      int previous, next, there = -1;
      MPI_Cart_shift(grid, d, 1, &previous, &next);
      MPI_Sendrecv(&world_rank, 1, MPI_INT, next, 0, &there, 1, MPI_INT, previous, 0, grid, MPI_STATUS_IGNORE);
      if (previous == MPI_PROC_NULL) continue;
      const int between = abs(there / 4 - world_rank / 4) + abs(there % 4 - world_rank % 4);
      if (between > most) most = between;
    }
    MPI_Comm_free(&grid);
  }
  int all;
  MPI_Allreduce(&most, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  const int ring[] = {16}, square[] = {4, 4}, part[] = {3, 2};
  const int as_they_are = hops(1, ring, 1, 0), moved = hops(1, ring, 1, 1), same = hops(2, square, 0, 1), corner = hops(2, part, 0, 1);
  if (world_rank == 0) printf("ring: %d, reordered %d; square: %d; part: %d\n", as_they_are, moved, same, corner);
  MPI_Finalize();
  return 0;
}
