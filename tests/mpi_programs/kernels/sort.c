/* Sorting by samples, and into buckets of known bounds. SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

enum { KEYS = 700, MOST = 1 << 20 };

static int by_value(const void *a, const void *b) {
  const unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
  return (x > y) - (x < y);
}

/* Sends keys[i] to the part that bounds say: part k has those below bounds[k]. Returns how many came, sorted. */
static int exchange(unsigned *keys, const unsigned *bounds, unsigned **sorted) {
  int *const counts = calloc(4 * (size_t)size, sizeof *counts);
  int *const starts = counts + size, *const from = starts + size, *const places = from + size;
  qsort(keys, KEYS, sizeof *keys, by_value);
  for (int i = 0, part = 0; i < KEYS; ++i) {
    while (part < size - 1 && keys[i] >= bounds[part]) ++part;
    ++counts[part];
  }
  MPI_Alltoall(counts, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
  int came = 0;
  for (int k = 0; k < size; ++k) {
    starts[k] = k == 0 ? 0 : starts[k - 1] + counts[k - 1];
    places[k] = came;
    came += from[k];
  }
  *sorted = malloc((size_t)(came + 1) * sizeof **sorted);
  MPI_Alltoallv(keys, counts, starts, MPI_UNSIGNED, *sorted, from, places, MPI_UNSIGNED, MPI_COMM_WORLD);
  free(counts);
  qsort(*sorted, (size_t)came, sizeof **sorted, by_value);
  return came;
}

/* Each key with its place in the whole order. */
static void show(const char *name, const unsigned *sorted, int count) {
  int before = 0, last = count == 0 ? 0 : (int)sorted[count - 1], most = 0;
  MPI_Exscan(&count, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) before = 0;
  Number sum = 0;
  for (int i = 0; i < count; ++i) sum += (Number)(before + i + 1) * sorted[i];
  tell_sum(name, sum);
  MPI_Scan(&last, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  tell_sum("in order", (Number)(count == 0 || most == last));
}

static void make_keys(unsigned *keys, unsigned skew) {
  Number state = (Number)rank + 1;
  for (int i = 0; i < KEYS; ++i) keys[i] = below(below(skew, &state) == 0 ? MOST : 1000, &state);
}

void sample_sort(void) {
  enum { SAMPLES = 8 };
  unsigned keys[KEYS], mine[SAMPLES], *all = NULL, *sorted;
  unsigned *const bounds = malloc((size_t)size * sizeof *bounds);
  make_keys(keys, 3);
  qsort(keys, KEYS, sizeof *keys, by_value);
  for (int i = 0; i < SAMPLES; ++i) mine[i] = keys[i * KEYS / SAMPLES];
  if (rank == 0) all = malloc(SAMPLES * (size_t)size * sizeof *all);
  MPI_Gather(mine, SAMPLES, MPI_UNSIGNED, all, SAMPLES, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    qsort(all, SAMPLES * (size_t)size, sizeof *all, by_value);
    for (int k = 0; k < size - 1; ++k) bounds[k] = all[(k + 1) * SAMPLES];
  }
  MPI_Bcast(bounds, size - 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
  const int came = exchange(keys, bounds, &sorted);
  show("sample sort", sorted, came);
  free(all), free(bounds), free(sorted);
}

void bucket_sort(void) {
  unsigned keys[KEYS], *sorted;
  unsigned *const bounds = malloc((size_t)size * sizeof *bounds);
  make_keys(keys, 1);
  for (int k = 0; k < size; ++k) bounds[k] = (unsigned)((Number)MOST * (Number)(k + 1) / (Number)size);
  const int came = exchange(keys, bounds, &sorted);
  show("bucket sort", sorted, came);
  free(bounds), free(sorted);
}
