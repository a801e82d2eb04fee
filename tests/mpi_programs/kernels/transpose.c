/* A matrix by rows becomes one by columns: blocks are exchanged and turned by a datatype. SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

void transpose(void) {
  enum { ROWS = 5 };
  const int side = ROWS * size;
  int *const in = malloc((size_t)(ROWS * side) * sizeof *in), *const out = malloc((size_t)(ROWS * side) * sizeof *out);
  for (int i = 0; i < ROWS * side; ++i) in[i] = rank * ROWS * side + i;
  /* A block column by column; the next block begins ROWS elements further. */
  MPI_Datatype column, columns, block;
  MPI_Type_vector(ROWS, 1, side, MPI_INT, &column);
  MPI_Type_create_hvector(ROWS, 1, sizeof *in, column, &columns);
  MPI_Type_create_resized(columns, 0, ROWS * sizeof *in, &block);
  MPI_Type_commit(&block);
  MPI_Alltoall(in, 1, block, out, ROWS * ROWS, MPI_INT, MPI_COMM_WORLD);
  MPI_Type_free(&column), MPI_Type_free(&columns), MPI_Type_free(&block);
  Number sum = 0;
  int wrong = 0;
  for (int from = 0; from < size; ++from) {
    for (int i = 0; i < ROWS * ROWS; ++i) {
      const int value = out[from * ROWS * ROWS + i], my_row = rank * ROWS + i / ROWS;
      wrong += value != (from * ROWS + i % ROWS) * side + my_row;
      sum = sum * 31 + (Number)value;
    }
  }
  free(in), free(out);
  tell_sum("transpose", sum);
  tell_sum("transpose, wrong", (Number)wrong);
}
