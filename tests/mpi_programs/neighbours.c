/* Collectives among neighbours, in their three forms, on a grid, a graph, a distributed graph: each
   block names its sender and its number among its
   own. SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { most = 64, all_alike = 999 };
static int rank, size, wrong;

/* Block in_block[i] of in[i] comes as our block i. */
typedef struct {
  int ins, outs, in[most], in_block[most];
} Sides;

static int mark(int from, int block, int k) { return from * 10000 + block * 100 + k; }

#define FORMS(NAME, name, ...)                                            \
  do {                                                                    \
    if (form == 0) MPI_##NAME(__VA_ARGS__, comm);                         \
    if (form == 1) MPI_I##name(__VA_ARGS__, comm, &request);              \
    if (form == 2) {                                                      \
      MPI_##NAME##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request);      \
      MPI_Start(&request);                                                \
      MPI_Wait(&request, MPI_STATUS_IGNORE);                              \
      memset(in, 0xff, sizeof in);                                        \
      MPI_Start(&request);                                                \
    }                                                                     \
    if (form != 0) MPI_Wait(&request, MPI_STATUS_IGNORE);                 \
    if (form == 2) MPI_Request_free(&request);                            \
  } while (0)

static void check_all(MPI_Comm comm, const Sides *sides) {
  int out[most * 4], in[most * 4], counts[most], places[most], in_counts[most], in_places[most];
  MPI_Aint addresses[most], in_addresses[most];
  MPI_Datatype types[most], in_types[most];
  MPI_Request request = MPI_REQUEST_NULL;
  int me;
  MPI_Comm_rank(comm, &me);
  for (int form = 0; form < 3; ++form) {
    const int two[2] = {mark(me, all_alike, 0), mark(me, all_alike, 1)};
    memset(in, 0xff, sizeof in);
    FORMS(Neighbor_allgather, neighbor_allgather, two, 2, MPI_INT, in, 2, MPI_INT);
    for (int i = 0; i < sides->ins; ++i) {
      for (int k = 0; k < 2; ++k) wrong += in[2 * i + k] != (sides->in[i] < 0 ? -1 : mark(sides->in[i], all_alike, k));
    }
    memset(in, 0xff, sizeof in);
    for (int i = 0; i < sides->ins; ++i) in_counts[i] = 2, in_places[i] = 3 * (sides->ins - 1 - i);
    FORMS(Neighbor_allgatherv, neighbor_allgatherv, two, 2, MPI_INT, in, in_counts, in_places, MPI_INT);
    for (int i = 0; i < sides->ins; ++i) {
      for (int k = 0; k < 3; ++k)
        wrong += in[in_places[i] + k] != (sides->in[i] < 0 || k == 2 ? -1 : mark(sides->in[i], all_alike, k));
    }
    for (int i = 0; i < sides->outs; ++i) out[i] = mark(me, i, 0);
    memset(in, 0xff, sizeof in);
    FORMS(Neighbor_alltoall, neighbor_alltoall, out, 1, MPI_INT, in, 1, MPI_INT);
    for (int i = 0; i < sides->ins; ++i) wrong += in[i] != (sides->in[i] < 0 ? -1 : mark(sides->in[i], sides->in_block[i], 0));
    /* Block b has b % 3 elements. */
    for (int i = 0; i < sides->outs; ++i) {
      counts[i] = i % 3, places[i] = 4 * i, addresses[i] = 16 * i, types[i] = MPI_INT;
      for (int k = 0; k < 4; ++k) out[4 * i + k] = mark(me, i, k);
    }
    for (int i = 0; i < sides->ins; ++i) {
      in_counts[i] = sides->in[i] < 0 ? 1 : sides->in_block[i] % 3, in_places[i] = 4 * i, in_addresses[i] = 16 * i, in_types[i] = MPI_INT;
    }
    for (int w = 0; w < 2; ++w) {
      memset(in, 0xff, sizeof in);
      if (w == 0) FORMS(Neighbor_alltoallv, neighbor_alltoallv, out, counts, places, MPI_INT, in, in_counts, in_places, MPI_INT);
      if (w == 1) FORMS(Neighbor_alltoallw, neighbor_alltoallw, out, counts, addresses, types, in, in_counts, in_addresses, in_types);
      for (int i = 0; i < sides->ins; ++i) {
        for (int k = 0; k < 4; ++k)
          wrong += in[4 * i + k] != (sides->in[i] < 0 || k >= in_counts[i] ? -1 : mark(sides->in[i], sides->in_block[i], k));
      }
    }
  }
}

static void grid(int dims, int periodic) {
  int sides[4] = {0}, periods[4];
  for (int d = 0; d < dims; ++d) periods[d] = periodic;
  MPI_Dims_create(size, dims, sides);
  MPI_Comm comm;
  MPI_Cart_create(MPI_COMM_WORLD, dims, sides, periods, 0, &comm);
  Sides found = {2 * dims, 2 * dims, {0}, {0}};
  for (int d = 0; d < dims; ++d) {
    MPI_Cart_shift(comm, d, 1, found.in + 2 * d, found.in + 2 * d + 1);
    /* What the lower neighbour sends up, and the upper one down. */
    found.in_block[2 * d] = 2 * d + 1, found.in_block[2 * d + 1] = 2 * d;
  }
  check_all(comm, &found);
  MPI_Comm_free(&comm);
}

/* Each rank names the next one twice, itself, and the one before. */
static void graphs(void) {
  int index[most], edges[4 * most], degree = 4;
  for (int r = 0; r < size; ++r) {
    index[r] = 4 * (r + 1);
    edges[4 * r] = edges[4 * r + 2] = (r + 1) % size, edges[4 * r + 1] = r, edges[4 * r + 3] = (r + size - 1) % size;
  }
  MPI_Comm comm;
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  const int in[4] = {before, before, rank, next};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 4, in, MPI_UNWEIGHTED, degree, edges + 4 * rank, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  if (size > 2) { /* else several of them are one rank */
    const Sides sides = {4, 4, {before, before, rank, next}, {0, 2, 1, 3}};
    check_all(comm, &sides);
  }
  MPI_Comm_free(&comm);
  /* A star: rank 0 and all others. */
  for (int r = 0, at = 0; r < size; ++r) {
    for (int q = r == 0 ? 1 : 0; q < (r == 0 ? size : 1); ++q) edges[at++] = q;
    index[r] = at;
  }
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
  Sides star = {rank == 0 ? size - 1 : 1, rank == 0 ? size - 1 : 1, {0}, {0}};
  for (int i = 0; i < star.ins; ++i) star.in[i] = rank == 0 ? i + 1 : 0, star.in_block[i] = rank == 0 ? 0 : rank - 1;
  check_all(comm, &star);
  MPI_Comm_free(&comm);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &comm);
  const Sides none = {0, 0, {0}, {0}};
  check_all(comm, &none);
  MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int dims = 1; dims <= 3; ++dims) grid(dims, 0), grid(dims, 1);
  graphs();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int error, value = 0;
  MPI_Error_class(MPI_Neighbor_allgather(&value, 1, MPI_INT, &value, 1, MPI_INT, MPI_COMM_WORLD), &error);
  wrong += error != MPI_ERR_TOPOLOGY;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  int all;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all);
  MPI_Finalize();
  return 0;
}
