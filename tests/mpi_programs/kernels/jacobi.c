/* Laplace's equation on a square with a hot edge, until it moves little. SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

void jacobi(void) {
  enum { SIDE = 12, FULL = SIDE + 2 };
  double now[FULL][FULL] = {{0}}, next[FULL][FULL] = {{0}};
  int sides[2] = {0, 0}, periods[2] = {0, 0}, around[4];
  MPI_Comm grid;
  MPI_Dims_create(size, 2, sides);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periods, 1, &grid);
  MPI_Cart_shift(grid, 0, 1, around, around + 1);
  MPI_Cart_shift(grid, 1, 1, around + 2, around + 3);
  MPI_Datatype column;
  MPI_Type_vector(SIDE, 1, FULL, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  if (around[0] == MPI_PROC_NULL) {
    for (int j = 0; j < FULL; ++j) now[0][j] = next[0][j] = 100;
  }
  int steps = 0;
  double largest = 1;
  for (; steps < 1000 && largest > 0.4; ++steps) {
    MPI_Sendrecv(&now[SIDE][1], SIDE, MPI_DOUBLE, around[1], 0, &now[0][1], SIDE, MPI_DOUBLE, around[0], 0, grid,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&now[1][1], SIDE, MPI_DOUBLE, around[0], 1, &now[FULL - 1][1], SIDE, MPI_DOUBLE, around[1], 1, grid,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&now[1][SIDE], 1, column, around[3], 2, &now[1][0], 1, column, around[2], 2, grid, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&now[1][1], 1, column, around[2], 3, &now[1][FULL - 1], 1, column, around[3], 3, grid,
                 MPI_STATUS_IGNORE);
    double moved = 0;
    for (int i = 1; i <= SIDE; ++i) {
      for (int j = 1; j <= SIDE; ++j) {
        next[i][j] = (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1]) / 4;
        const double by = next[i][j] > now[i][j] ? next[i][j] - now[i][j] : now[i][j] - next[i][j];
        moved = by > moved ? by : moved;
      }
    }
    for (int i = 1; i <= SIDE; ++i) {
      for (int j = 1; j <= SIDE; ++j) now[i][j] = next[i][j];
    }
    MPI_Allreduce(&moved, &largest, 1, MPI_DOUBLE, MPI_MAX, grid);
  }
  double mine = 0, sum = 0;
  for (int i = 1; i <= SIDE; ++i) {
    for (int j = 1; j <= SIDE; ++j) mine += now[i][j];
  }
  MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, grid);
  int root;
  MPI_Comm_rank(grid, &root);
  if (root == 0) printf("jacobi: %d steps, %.6f\n", steps, sum);
  MPI_Type_free(&column);
  MPI_Comm_free(&grid);
}
