/* Runs all kernels, or those that are named. SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

#include <string.h>

int rank, size;

void tell_sum(const char *what, Number mine) {
  Number sum;
  MPI_Reduce(&mine, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: %llu\n", what, sum);
}

unsigned below(unsigned limit, Number *state) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(*state >> 33) % limit;
}

int main(int argc, char **argv) {
#define KERNEL(name) \
  { #name, name }
  static const struct {
    const char *name;
    void (*run)(void);
  } kernels[] = {KERNEL(ring),    KERNEL(pi),      KERNEL(stencil),  KERNEL(transpose), KERNEL(sample_sort),
                 KERNEL(bucket_sort), KERNEL(halo_2d), KERNEL(halo_3d), KERNEL(pingpong),  KERNEL(life),
                 KERNEL(jacobi),  KERNEL(tasks),   KERNEL(all_pairs), KERNEL(matrix_vector)};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; ++i) {
    int asked = argc == 1;
    for (int word = 1; word < argc; ++word) asked = asked || strcmp(argv[word], kernels[i].name) == 0;
    if (asked) kernels[i].run();
  }
  MPI_Finalize();
  return 0;
}
