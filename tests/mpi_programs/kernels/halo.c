/* Edges of blocks of two and three dimensions go to the neighbours. SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include <string.h>

static Number sum_of(const unsigned *values, size_t count) {
  Number sum = 0;
  for (size_t i = 0; i < count; ++i) sum = sum * 31 + values[i];
  return sum;
}

/* Columns by a vector type, all sends and receives at once; open at the ends of the first dimension. */
void halo_2d(void) {
  enum { SIDE = 9, FULL = SIDE + 2 };
  int sides[2] = {0, 0}, periods[2] = {0, 1}, left, right, up, down;
  unsigned block[FULL][FULL];
  MPI_Comm grid;
  MPI_Dims_create(size, 2, sides);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periods, 0, &grid);
  MPI_Cart_shift(grid, 0, 1, &up, &down);
  MPI_Cart_shift(grid, 1, 1, &left, &right);
  MPI_Datatype column;
  MPI_Type_vector(SIDE, 1, FULL, MPI_UNSIGNED, &column);
  MPI_Type_commit(&column);
  for (int i = 0; i < FULL; ++i) {
    for (int j = 0; j < FULL; ++j) block[i][j] = (unsigned)(rank * 1000 + i * FULL + j);
  }
  for (int step = 0; step < 5; ++step) {
    MPI_Request requests[8];
    MPI_Irecv(&block[0][1], SIDE, MPI_UNSIGNED, up, 0, grid, requests);
    MPI_Irecv(&block[FULL - 1][1], SIDE, MPI_UNSIGNED, down, 1, grid, requests + 1);
    MPI_Irecv(&block[1][0], 1, column, left, 2, grid, requests + 2);
    MPI_Irecv(&block[1][FULL - 1], 1, column, right, 3, grid, requests + 3);
    MPI_Isend(&block[FULL - 2][1], SIDE, MPI_UNSIGNED, down, 0, grid, requests + 4);
    MPI_Isend(&block[1][1], SIDE, MPI_UNSIGNED, up, 1, grid, requests + 5);
    MPI_Isend(&block[1][FULL - 2], 1, column, right, 2, grid, requests + 6);
    MPI_Isend(&block[1][1], 1, column, left, 3, grid, requests + 7);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    unsigned old[FULL][FULL];
    memcpy(old, block, sizeof old);
    for (int i = 1; i <= SIDE; ++i) {
      for (int j = 1; j <= SIDE; ++j) block[i][j] = old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1] + 1;
    }
  }
  const Number sum = sum_of(&block[0][0], sizeof block / sizeof(unsigned));
  MPI_Type_free(&column);
  MPI_Comm_free(&grid);
  tell_sum("2-D halo", sum);
}

/* Faces by subarrays, requests prepared once. */
void halo_3d(void) {
  enum { SIDE = 5, FULL = SIDE + 2, FACES = 6 };
  static unsigned block[FULL][FULL][FULL];
  int sides[3] = {0, 0, 0}, periods[3] = {1, 0, 1};
  MPI_Comm grid;
  MPI_Dims_create(size, 3, sides);
  MPI_Cart_create(MPI_COMM_WORLD, 3, sides, periods, 1, &grid);
  int mine, at[3];
  MPI_Comm_rank(grid, &mine);
  MPI_Cart_coords(grid, mine, 3, at);
  const int place = (at[0] * sides[1] + at[1]) * sides[2] + at[2]; /* whichever rank it has */
  unsigned *const first = &block[0][0][0];
  for (int i = 0; i < FULL * FULL * FULL; ++i) first[i] = (unsigned)(place * 10007 + i);
  MPI_Request requests[2 * FACES];
  MPI_Datatype faces[2 * FACES];
  for (int d = 0, k = 0; d < 3; ++d) {
    for (int way = -1; way <= 1; way += 2) {
      int from, to;
      MPI_Cart_shift(grid, d, way, &from, &to);
      for (int is_send = 0; is_send < 2; ++is_send, ++k) {
        const int full[3] = {FULL, FULL, FULL};
        int part[3] = {SIDE, SIDE, SIDE}, start[3] = {1, 1, 1};
        part[d] = 1;
        start[d] = is_send ? (way > 0 ? SIDE : 1) : (way > 0 ? 0 : SIDE + 1);
        MPI_Type_create_subarray(3, full, part, start, MPI_ORDER_C, MPI_UNSIGNED, faces + k);
        MPI_Type_commit(faces + k);
        if (is_send) {
          MPI_Send_init(block, 1, faces[k], to, 2 * d + (way > 0), grid, requests + k);
        } else {
          MPI_Recv_init(block, 1, faces[k], from, 2 * d + (way > 0), grid, requests + k);
        }
      }
    }
  }
  for (int step = 0; step < 4; ++step) {
    MPI_Startall(2 * FACES, requests);
    MPI_Waitall(2 * FACES, requests, MPI_STATUSES_IGNORE);
    unsigned old[FULL][FULL][FULL];
    memcpy(old, block, sizeof old);
    for (int i = 1; i <= SIDE; ++i) {
      for (int j = 1; j <= SIDE; ++j) {
        for (int k = 1; k <= SIDE; ++k) {
          block[i][j][k] = old[i - 1][j][k] + 2 * old[i + 1][j][k] + 3 * old[i][j - 1][k] + 5 * old[i][j + 1][k] +
                           7 * old[i][j][k - 1] + 11 * old[i][j][k + 1];
        }
      }
    }
  }
  const Number sum = sum_of(&block[0][0][0], sizeof block / sizeof(unsigned));
  for (int k = 0; k < 2 * FACES; ++k) {
    MPI_Request_free(requests + k);
    MPI_Type_free(faces + k);
  }
  MPI_Comm_free(&grid);
  tell_sum("3-D halo", sum);
}
