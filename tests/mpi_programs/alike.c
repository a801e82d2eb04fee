// MPI_Allreduce gives all ranks the same bits, however its sums are rounded: a loop that ends when its norm stays ends on all.
// SPDX-License-Identifier: Apache-2.0
#include <complex.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count = 48, rounds = 20 };
static int size, wrong;

static void compare_bytes(const void* mine, int of, size_t bytes, MPI_Datatype type, const char* what) {
  unsigned char theirs[count * sizeof(double complex)];
  memcpy(theirs, mine, (size_t)of * bytes);
  MPI_Bcast(theirs, of, type, 0, MPI_COMM_WORLD);
  if (memcmp(theirs, mine, (size_t)of * bytes) != 0) {
    ++wrong;
    fprintf(stderr, "%s of %d: not what rank 0 has\n", what, of);
  }
}

static void compare(const double* mine, int of, const char* what) { compare_bytes(mine, of, sizeof *mine, MPI_DOUBLE, what); }

// Rounds as MPI_SUM does, though it is the program's own.
static void add(void* in, void* inout, int* of, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *of; ++i) ((double*)inout)[i] += ((double*)in)[i];
}

// Types that round, other than MPI_DOUBLE, and an operator of the program's.
static void other_types(int of) {
  float singles[count], all_singles[count];
  double doubles[count], all_doubles[count];
  double complex pairs[count], all_pairs[count];
  for (int i = 0; i < of; ++i) {
    doubles[i] = (rand() - RAND_MAX / 2) / 1e3;
    singles[i] = (float)doubles[i];
    pairs[i] = doubles[i] + I * singles[i];
  }
  MPI_Allreduce(singles, all_singles, of, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  compare_bytes(all_singles, of, sizeof(float), MPI_FLOAT, "sum of floats");
  MPI_Allreduce(pairs, all_pairs, of, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
  compare_bytes(all_pairs, of, sizeof(double complex), MPI_C_DOUBLE_COMPLEX, "sum of complex numbers");
  MPI_Op own;
  MPI_Op_create(add, 1, &own);
  MPI_Allreduce(doubles, all_doubles, of, MPI_DOUBLE, own, MPI_COMM_WORLD);
  compare(all_doubles, of, "the program's own sum");
  MPI_Op_free(&own);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  srand((unsigned)rank + 1);
  for (int round = 0; round < rounds; ++round) {
    for (int of = 1; of <= count; of += of == 1 ? 15 : 32) {
      double mine[count], all[count];
      for (int i = 0; i < of; ++i) mine[i] = (rand() - RAND_MAX / 2) / 1e3;
      MPI_Allreduce(mine, all, of, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      compare(all, of, "sum");
      MPI_Request request;
      MPI_Iallreduce(mine, all, of, MPI_DOUBLE, MPI_PROD, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      compare(all, of, "product");
      MPI_Allreduce(MPI_IN_PLACE, mine, of, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      compare(mine, of, "sum in place");
      other_types(of);
    }
  }
  long ones = 1, all_ones;
  MPI_Allreduce(&ones, &all_ones, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (all_ones != size) ++wrong;
  double x = 1 + rand() / 1e9, sum, before = 0;
  int turns = 0;
  for (; turns < 100; ++turns, before = sum) {
    MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (sum == before) break;
    x = 0.5 * (x + sum / size);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", wrong);
  MPI_Finalize();
  return 0;
}
