/* Conway's game of life on a torus, by rows. SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

void life(void) {
  enum { ROWS = 8, COLUMNS = 40 };
  static char now[ROWS + 2][COLUMNS], next[ROWS + 2][COLUMNS];
  int sides[1] = {size}, periods[1] = {1}, up, down;
  MPI_Comm row;
  MPI_Cart_create(MPI_COMM_WORLD, 1, sides, periods, 0, &row);
  MPI_Cart_shift(row, 0, 1, &up, &down);
  Number state = (Number)rank * 77 + 5;
  for (int i = 1; i <= ROWS; ++i) {
    for (int j = 0; j < COLUMNS; ++j) now[i][j] = (char)(below(3, &state) == 0);
  }
  for (int turn = 0; turn < 10; ++turn) {
    MPI_Request requests[4];
    MPI_Isend(now[1], COLUMNS, MPI_CHAR, up, 0, row, requests);
    MPI_Isend(now[ROWS], COLUMNS, MPI_CHAR, down, 1, row, requests + 1);
    MPI_Irecv(now[ROWS + 1], COLUMNS, MPI_CHAR, down, 0, row, requests + 2);
    MPI_Irecv(now[0], COLUMNS, MPI_CHAR, up, 1, row, requests + 3);
    for (int ended = 0, index; ended < 4; ++ended) MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
    for (int i = 1; i <= ROWS; ++i) {
      for (int j = 0; j < COLUMNS; ++j) {
        int around = -now[i][j];
        for (int k = 0; k < 9; ++k) around += now[i + k / 3 - 1][(j + k % 3 - 1 + COLUMNS) % COLUMNS];
        next[i][j] = (char)(around == 3 || (around == 2 && now[i][j]));
      }
    }
    for (int i = 1; i <= ROWS; ++i) {
      for (int j = 0; j < COLUMNS; ++j) now[i][j] = next[i][j];
    }
  }
  Number living = 0, places = 0;
  for (int i = 1; i <= ROWS; ++i) {
    for (int j = 0; j < COLUMNS; ++j) {
      living += (Number)now[i][j];
      places += (Number)now[i][j] * (Number)((rank * ROWS + i) * COLUMNS + j);
    }
  }
  MPI_Comm_free(&row);
  tell_sum("life, cells", living);
  tell_sum("life, places", places);
}
