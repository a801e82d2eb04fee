/* Envelopes with counts of MPI_Count, and types of Fortran's kinds. SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>

static int wrong, checks;
static void check(int right, int line) {
  ++checks;
  if (right) return;
  ++wrong;
  fprintf(stderr, "envelopes.c:%d\n", line);
}
#define CHECK(condition) check(condition, __LINE__)

/* Its numbers in one line: integers, addresses, counts, types. */
static void show(const char *name, MPI_Datatype type, int combiner) {
  MPI_Count n[4];
  int found, integers[32];
  MPI_Aint addresses[8];
  MPI_Count counts[32];
  MPI_Datatype types[4];
  MPI_Type_get_envelope_c(type, n, n + 1, n + 2, n + 3, &found);
  CHECK(found == combiner);
  MPI_Type_get_contents_c(type, n[0], n[1], n[2], n[3], integers, addresses, counts, types);
  printf("%s:", name);
  for (int i = 0; i < n[0]; ++i) {
    if (integers[i] == MPI_ORDER_C || integers[i] == MPI_DISTRIBUTE_BLOCK || integers[i] == MPI_DISTRIBUTE_CYCLIC || integers[i] == MPI_DISTRIBUTE_DFLT_DARG)
      printf(" named"); /* its value is each library's own */
    else
      printf(" %d", integers[i]);
  }
  printf(";");
  for (int i = 0; i < n[1]; ++i) printf(" %lld", (long long)addresses[i]);
  printf(";");
  for (int i = 0; i < n[2]; ++i) printf(" %lld", (long long)counts[i]);
  printf("; %lld of %d\n", (long long)n[3], n[3] > 0 && types[0] == MPI_DOUBLE);
  MPI_Type_free(&type);
}

static void kinds(void) {
  MPI_Datatype type, again;
  int size, integers, addresses, types, combiner, numbers[2];
  static const int reals[][2] = {{6, 30}, {6, MPI_UNDEFINED}, {MPI_UNDEFINED, 30}, {7, 30}, {6, 38}, {15, 307}};
  for (int i = 0; i < 6; ++i) {
    MPI_Type_create_f90_real(reals[i][0], reals[i][1], &type);
    MPI_Type_create_f90_real(reals[i][0], reals[i][1], &again);
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    CHECK(type == again && integers == 2 && addresses == 0 && types == 0 && combiner == MPI_COMBINER_F90_REAL);
    MPI_Type_get_contents(type, 2, 0, 0, numbers, NULL, NULL);
    MPI_Type_size(type, &size);
    CHECK(size == (i < 3 ? 4 : 8) && numbers[0] == reals[i][0] && numbers[1] == reals[i][1]);
    MPI_Type_create_f90_complex(reals[i][0], reals[i][1], &type);
    MPI_Type_size(type, &size);
    CHECK(size == (i < 3 ? 8 : 16));
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    CHECK(combiner == MPI_COMBINER_F90_COMPLEX);
  }
  static const int ranges[] = {1, 2, 3, 4, 5, 9, 10, 18}, sizes[] = {1, 1, 2, 2, 4, 4, 8, 8};
  for (int i = 0; i < 8; ++i) {
    MPI_Type_create_f90_integer(ranges[i], &type);
    MPI_Type_size(type, &size);
    MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    CHECK(size == sizes[i] && integers == 1 && combiner == MPI_COMBINER_F90_INTEGER);
  }
  /* They are for messages and operators. */
  MPI_Type_create_f90_real(15, MPI_UNDEFINED, &type);
  double one = 1.5, all = 0;
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(&one, &all, 1, type, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all == 1.5 * ranks);
  MPI_Bcast(&all, 1, type, 0, MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK(MPI_Type_create_f90_real(200, 30, &type) != MPI_SUCCESS);
  CHECK(MPI_Type_create_f90_integer(200, &type) != MPI_SUCCESS);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  kinds();
  if (rank == 0) {
    MPI_Datatype type;
    const MPI_Count lengths[] = {1, 2}, places[] = {0, 3}, sizes[] = {4, 6}, subsizes[] = {2, 3}, starts[] = {1, 2};
    const MPI_Datatype olds[] = {MPI_DOUBLE, MPI_INT};
    const int shares[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, by[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {1, 2};
    MPI_Type_contiguous_c(7, MPI_DOUBLE, &type), show("contiguous", type, MPI_COMBINER_CONTIGUOUS);
    MPI_Type_vector_c(2, 3, 4, MPI_DOUBLE, &type), show("vector", type, MPI_COMBINER_VECTOR);
    MPI_Type_create_hvector_c(2, 3, 64, MPI_DOUBLE, &type), show("hvector", type, MPI_COMBINER_HVECTOR);
    MPI_Type_indexed_c(2, lengths, places, MPI_DOUBLE, &type), show("indexed", type, MPI_COMBINER_INDEXED);
    MPI_Type_create_hindexed_c(2, lengths, places, MPI_DOUBLE, &type), show("hindexed", type, MPI_COMBINER_HINDEXED);
    MPI_Type_create_indexed_block_c(2, 5, places, MPI_DOUBLE, &type), show("indexed block", type, MPI_COMBINER_INDEXED_BLOCK);
    MPI_Type_create_hindexed_block_c(2, 5, places, MPI_DOUBLE, &type), show("hindexed block", type, MPI_COMBINER_HINDEXED_BLOCK);
    MPI_Type_create_struct_c(2, lengths, places, olds, &type), show("struct", type, MPI_COMBINER_STRUCT);
    MPI_Type_create_resized_c(MPI_DOUBLE, -8, 24, &type), show("resized", type, MPI_COMBINER_RESIZED);
    MPI_Type_create_subarray_c(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type), show("subarray", type, MPI_COMBINER_SUBARRAY);
    MPI_Type_create_darray_c(2, 1, 2, sizes, shares, by, grid, MPI_ORDER_C, MPI_DOUBLE, &type), show("darray", type, MPI_COMBINER_DARRAY);
    MPI_Type_vector(2, 3, 4, MPI_DOUBLE, &type), show("vector of ints", type, MPI_COMBINER_VECTOR);
    MPI_Type_create_hvector(2, 3, 64, MPI_DOUBLE, &type), show("hvector of ints", type, MPI_COMBINER_HVECTOR);
    MPI_Type_contiguous_c((MPI_Count)1 << 33, MPI_DOUBLE, &type), show("a large count", type, MPI_COMBINER_CONTIGUOUS);
    MPI_Type_dup(MPI_DOUBLE, &type), show("dup", type, MPI_COMBINER_DUP);
  }
  int all_wrong;
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d checks, %d wrong\n", checks, all_wrong);
  MPI_Finalize();
}
