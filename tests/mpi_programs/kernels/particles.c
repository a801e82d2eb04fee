/* Each with each: what travels goes round and meets all. And a matrix times a vector. SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include <stddef.h>

void all_pairs(void) {
  enum { PARTICLES = 20 };
  struct Particle {
    int place;
    char kind;
    long force;
  } mine[PARTICLES], travelling[PARTICLES];
  const int lengths[3] = {1, 1, 1};
  const MPI_Aint places[3] = {offsetof(struct Particle, place), offsetof(struct Particle, kind),
                              offsetof(struct Particle, force)};
  const MPI_Datatype types[3] = {MPI_INT, MPI_CHAR, MPI_LONG};
  MPI_Datatype type, particle;
  MPI_Type_create_struct(3, lengths, places, types, &type);
  MPI_Type_create_resized(type, 0, sizeof(struct Particle), &particle);
  MPI_Type_commit(&particle);
  MPI_Type_free(&type);
  Number state = (Number)rank + 99;
  for (int i = 0; i < PARTICLES; ++i) {
    mine[i].place = (int)below(10000, &state);
    mine[i].kind = (char)below(5, &state);
    mine[i].force = 0;
    travelling[i] = mine[i];
  }
  for (int turn = 0; turn < size; ++turn) {
    for (int i = 0; i < PARTICLES; ++i) {
      for (int j = 0; j < PARTICLES; ++j)
        mine[i].force += (long)(mine[i].place - travelling[j].place) * (mine[i].kind + 2 * travelling[j].kind);
    }
    MPI_Sendrecv_replace(travelling, PARTICLES, particle, (rank + 1) % size, 3, (rank + size - 1) % size, 3,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  Number sum = 0;
  for (int i = 0; i < PARTICLES; ++i) sum = sum * 31 + (Number)mine[i].force + (Number)(travelling[i].place != mine[i].place);
  MPI_Type_free(&particle);
  tell_sum("all pairs", sum);
}

/* By rows with a gathered vector, and by columns with sums that are scattered; parts of unequal size. */
void matrix_vector(void) {
  int *const counts = malloc(2 * (size_t)size * sizeof *counts), *const starts = counts + size;
  for (int k = 0, at = 0; k < size; at += counts[k++]) {
    counts[k] = k % 3 + 1;
    starts[k] = at;
  }
  const int all = starts[size - 1] + counts[size - 1], mine = counts[rank];
  long *const x = malloc((size_t)all * sizeof *x), *const partial = calloc((size_t)all, sizeof *partial);
  long part[3] = {0}, by_rows[3], by_columns[3];
  for (int i = 0; i < mine; ++i) part[i] = 3 * (starts[rank] + i) + 1;
  MPI_Allgatherv(part, mine, MPI_LONG, x, counts, starts, MPI_LONG, MPI_COMM_WORLD);
#define ELEMENT(row, column) ((long)((row)*7 + (column)*13) % 101)
  for (int i = 0; i < mine; ++i) {
    by_rows[i] = 0;
    for (int j = 0; j < all; ++j) by_rows[i] += ELEMENT(starts[rank] + i, j) * x[j];
  }
  for (int i = 0; i < all; ++i) {
    for (int j = 0; j < mine; ++j) partial[i] += ELEMENT(i, starts[rank] + j) * part[j];
  }
  MPI_Reduce_scatter(partial, by_columns, counts, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  Number sum = 0, differ = 0;
  for (int i = 0; i < mine; ++i) {
    sum += (Number)by_rows[i] * (Number)(starts[rank] + i + 1);
    differ += by_rows[i] != by_columns[i];
  }
  free(counts), free(x), free(partial);
  tell_sum("matrix times vector", sum);
  tell_sum("matrix times vector, different", differ);
}
