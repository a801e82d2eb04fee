/* Compares a collective of MPI with PMPI's, byte for byte: all roots, counts from 0 to 1000, in place and not, types with and
   without gaps, operators that commute and one that does not, communicators that the schedule does not fit.
   SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

enum { MOST = 1000 };
static int rank, ranks, wrong, compared;
static MPI_Comm comm;
static char *input, *ours, *theirs;

/* Maps x -> a x + b modulo 2^32: associative, and does not commute. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type) {
  (void)type;
  const unsigned *left = in;
  unsigned *right = inout;
  for (int i = 0; i < *count; ++i) {
    const unsigned a = left[2 * i] * right[2 * i], b = left[2 * i + 1] * right[2 * i] + right[2 * i + 1];
    right[2 * i] = a, right[2 * i + 1] = b;
  }
}

/* The same bytes in both results, other bytes in each rank's input. */
static void prepare(size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) {
    input[i] = (char)(rand() >> 7);
    ours[i] = theirs[i] = (char)(i * 37 + 11);
  }
}
static void compare(const char *what, int count, int root, size_t bytes) {
  ++compared;
  if (memcmp(ours, theirs, bytes) == 0) return;
  ++wrong;
  fprintf(stderr, "rank %d: %s, count %d, root %d: differs\n", rank, what, count, root);
}

static void move(const char *name, MPI_Datatype type, int count, int root, const char *what) {
  MPI_Aint lower, extent;
  MPI_Type_get_extent(type, &lower, &extent);
  const size_t block = count * extent, all = block * ranks;
  for (int in_place = 0; in_place < 2; ++in_place) {
    prepare(all);
    const void *in = input, *theirs_in = input;
    if (in_place) {
      memcpy(ours, input, all), memcpy(theirs, input, all);
      in = theirs_in = MPI_IN_PLACE;
    }
    if (!strcmp(name, "broadcast")) {
      memcpy(ours, input, block), memcpy(theirs, input, block);
      MPI_Bcast(ours, count, type, root, comm);
      PMPI_Bcast(theirs, count, type, root, comm);
    } else if (!strcmp(name, "allgather")) {
      MPI_Allgather(in, count, type, ours, count, type, comm);
      PMPI_Allgather(theirs_in, count, type, theirs, count, type, comm);
    } else if (!strcmp(name, "alltoall")) {
      MPI_Alltoall(in, count, type, ours, count, type, comm);
      PMPI_Alltoall(theirs_in, count, type, theirs, count, type, comm);
    } else if (!strcmp(name, "gather")) {
      if (rank != root) in = theirs_in = input;
      MPI_Gather(in, count, type, ours, count, type, root, comm);
      PMPI_Gather(theirs_in, count, type, theirs, count, type, root, comm);
    } else if (!strcmp(name, "scatter")) {
      void *to = in_place && rank == root ? MPI_IN_PLACE : ours;
      MPI_Scatter(input, count, type, to, count, type, root, comm);
      to = in_place && rank == root ? MPI_IN_PLACE : theirs;
      PMPI_Scatter(input, count, type, to, count, type, root, comm);
    }
    compare(what, count, root, all);
  }
}

/* Sends ints, and receives them as elements of two. */
static void receive(const char *name, MPI_Datatype type, int count, int root, const char *what) {
  const size_t all = (size_t)count * ranks * 2 * sizeof(int) + 64;
  prepare(all);
  if (!strcmp(name, "allgather")) {
    MPI_Allgather(input, 2 * count, MPI_INT, ours, count, type, comm);
    PMPI_Allgather(input, 2 * count, MPI_INT, theirs, count, type, comm);
  } else if (!strcmp(name, "alltoall")) {
    MPI_Alltoall(input, 2 * count, MPI_INT, ours, count, type, comm);
    PMPI_Alltoall(input, 2 * count, MPI_INT, theirs, count, type, comm);
  } else if (!strcmp(name, "gather")) {
    MPI_Gather(input, 2 * count, MPI_INT, ours, count, type, root, comm);
    PMPI_Gather(input, 2 * count, MPI_INT, theirs, count, type, root, comm);
  } else {
    MPI_Scatter(input, 2 * count, MPI_INT, ours, count, type, root, comm);
    PMPI_Scatter(input, 2 * count, MPI_INT, theirs, count, type, root, comm);
  }
  compare(what, count, root, all);
}

static void combine(const char *name, MPI_Datatype type, MPI_Op op, int count, int root, const char *what) {
  MPI_Aint lower, extent;
  MPI_Type_get_extent(type, &lower, &extent);
  const size_t block = count * extent, all = block * ranks;
  int all_ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &all_ranks);
  /* MPICH 4.0 crashes in MPI_Reduce in place, so only the schedule's: its root is 1. */
  const int is_reduce = !strcmp(name, "reduce"), forms = !is_reduce || (root == 1 && ranks == all_ranks) ? 2 : 1;
  for (int in_place = 0; in_place < forms; ++in_place) {
    prepare(all);
    if (type == MPI_DOUBLE) { /* sums of whole numbers are exact in any order */
      for (int i = 0; i < count * ranks; ++i) ((double *)input)[i] = rand() % 1000;
    }
    const void *in = input;
    if (in_place) {
      memcpy(ours, input, all), memcpy(theirs, input, all);
      in = MPI_IN_PLACE;
    }
    if (!strcmp(name, "allreduce")) {
      MPI_Allreduce(in, ours, count, type, op, comm);
      PMPI_Allreduce(in, theirs, count, type, op, comm);
    } else if (!strcmp(name, "scan")) {
      MPI_Scan(in, ours, count, type, op, comm);
      PMPI_Scan(in, theirs, count, type, op, comm);
    } else if (is_reduce) {
      if (rank != root) in = input;
      MPI_Reduce(in, ours, count, type, op, root, comm);
      PMPI_Reduce(input, theirs, count, type, op, root, comm);
      if (rank != root) memcpy(ours, theirs, all); /* without a meaning there */
    } else if (!strcmp(name, "reduce_scatter")) {
      MPI_Reduce_scatter_block(in, ours, count, type, op, comm);
      PMPI_Reduce_scatter_block(in, theirs, count, type, op, comm);
      if (in_place) memcpy(ours + block, theirs + block, all - block); /* the rest of the input may be overwritten */
    }
    compare(what, count, root, all);
  }
}

static void compare_all(const char *name, int count) {
  MPI_Datatype gaps, pair, apart, woven, backwards;
  MPI_Op order;
  MPI_Type_vector(2, 1, 2, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
  MPI_Type_commit(&pair);
  /* As long as its size, but with gaps: elements overlap in memory. */
  MPI_Type_vector(2, 1, 3, MPI_INT, &apart);
  MPI_Type_create_resized(apart, 0, 8, &woven);
  MPI_Type_commit(&woven);
  const int places[2] = {1, 0};
  MPI_Type_create_indexed_block(2, 1, places, MPI_INT, &backwards);
  MPI_Type_commit(&backwards);
  MPI_Op_create(compose, 0, &order);
  const int is_rooted = strstr("broadcast gather scatter reduce", name) != NULL;
  for (int root = 0; root < (is_rooted ? ranks : 1); ++root) {
    if (strstr("broadcast allgather alltoall gather scatter", name)) {
      move(name, MPI_INT, count, root, "int");
      move(name, MPI_CHAR, count, root, "char");
      move(name, gaps, count, root, "a type with gaps");
      if (strcmp(name, "broadcast")) {
        receive(name, woven, count, root, "a type whose elements overlap");
        receive(name, backwards, count, root, "a type in another order");
      }
    } else {
      combine(name, MPI_INT, MPI_SUM, count, root, "sum of int");
      combine(name, MPI_DOUBLE, MPI_SUM, count, root, "sum of double");
      combine(name, MPI_UNSIGNED_CHAR, MPI_BXOR, count, root, "bxor of unsigned char");
      combine(name, pair, order, count, root, "an operator that does not commute");
    }
  }
  MPI_Op_free(&order);
  MPI_Type_free(&pair), MPI_Type_free(&gaps), MPI_Type_free(&apart), MPI_Type_free(&woven), MPI_Type_free(&backwards);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  srand(7 * rank + 1);
  const size_t room = (size_t)MOST * 16 * ranks;
  input = malloc(room), ours = malloc(room), theirs = malloc(room);
  static const int counts[] = {0, 1, 2, 3, 5, 8, 13, 39, 64, 257, MOST};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    comm = MPI_COMM_WORLD;
    compare_all(argv[1], counts[i]);
  }
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, ranks - rank, &comm); /* fewer ranks */
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  compare_all(argv[1], 5);
  MPI_Comm_free(&comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  compare_all(argv[1], 5);
  MPI_Comm_free(&comm);
  int all[2], mine[2] = {wrong, compared};
  PMPI_Reduce(mine, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("%d of %d differ\n", all[0], all[1]);
  free(input), free(ours), free(theirs);
  MPI_Finalize();
  return 0;
}
