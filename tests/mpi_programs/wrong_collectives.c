/* Wrong nonblocking and persistent collectives, by name: CMakeLists.txt has the reports.
   SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank, size, value, result;
static MPI_Request request = MPI_REQUEST_NULL;

static void missing_rank(void) {
  MPI_Request both[2];
  MPI_Ibarrier(MPI_COMM_WORLD, both);
  if (rank != 2) {
    MPI_Iallreduce(&value, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, both + 1);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  } else {
    MPI_Wait(both, MPI_STATUS_IGNORE);
    MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}
static void not_alike(void) {
  if (rank == 1) {
    MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  } else {
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
}
static void other_order(void) {
  MPI_Request both[2];
  if (rank == 3) MPI_Ibarrier(MPI_COMM_WORLD, both + 1);
  MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, both);
  if (rank != 3) MPI_Ibarrier(MPI_COMM_WORLD, both + 1);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}
static void other_root(void) {
  MPI_Bcast_init(&value, 1, MPI_INT, rank == 3 ? 1 : 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
}
static void left_over(void) {
  if (rank == 0) MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  if (rank != 0) {
    MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}
static void freed(void) {
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
}
static void started_twice(void) {
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Start(&request);
}
static void not_persistent(void) {
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Start(&request);
}
/* What rank 1 sends to rank 2, and that takes from it. */
static int counts[64], in_counts[64], places[64], out[64], in[64];
static void set_counts(void) {
  for (int i = 0; i < size; ++i) counts[i] = in_counts[i] = 1, places[i] = 2 * i;
  if (rank == 1) counts[2] = 2;
}
static void other_counts(void) {
  set_counts();
  MPI_Alltoallv(out, counts, places, MPI_INT, in, in_counts, places, MPI_INT, MPI_COMM_WORLD);
}
static void other_counts_beside(void) {
  set_counts();
  MPI_Ialltoallv(out, counts, places, MPI_INT, in, in_counts, places, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
/* Rank 3 sleeps in a loop until the job ends. */
static void other_counts_while_one_sleeps(void) {
  if (rank == 3) {
    for (;;) usleep(10);
  }
  set_counts();
  if (rank == 1) MPI_Gatherv(out, 2, MPI_INT, in, in_counts, places, MPI_INT, 2, MPI_COMM_WORLD);
  if (rank != 1) MPI_Gatherv(out, 1, MPI_INT, in, in_counts, places, MPI_INT, 2, MPI_COMM_WORLD);
}
static void other_count_at_root(void) {
  set_counts();
  MPI_Gatherv(out, rank == 1 ? 2 : 1, MPI_INT, in, in_counts, places, MPI_INT, 2, MPI_COMM_WORLD);
}
static void other_group_calls_another(void) {
  MPI_Comm local, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &local);
  MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &both);
  if (rank % 2) {
    MPI_Allgather(&value, 1, MPI_INT, in, 1, MPI_INT, both);
  } else {
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, both);
  }
}
/* As many bytes, of another type at rank 2: reported with --strict. */
static MPI_Datatype mine(void) { return rank == 2 ? MPI_FLOAT : MPI_INT; }
static void types_of_bcast(void) { MPI_Bcast(out, 3, mine(), 0, MPI_COMM_WORLD); }
static void types_of_ibcast(void) {
  MPI_Ibcast(out, 3, mine(), 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void types_of_reduce(void) { MPI_Reduce(out, in, 2, mine(), MPI_SUM, 1, MPI_COMM_WORLD); }
static void types_of_gather(void) { MPI_Gather(out, 1, mine(), in, 1, MPI_INT, 0, MPI_COMM_WORLD); }
static void types_of_scatter(void) { MPI_Scatter(out, 1, MPI_INT, in, 1, mine(), 0, MPI_COMM_WORLD); }
static void types_of_alltoall(void) { MPI_Alltoall(out, 1, MPI_INT, in, 1, mine(), MPI_COMM_WORLD); }
static void types_of_allgatherv(void) {
  set_counts();
  MPI_Allgatherv(out, 1, mine(), in, in_counts, places, MPI_INT, MPI_COMM_WORLD);
}
static void types_of_gatherv(void) {
  set_counts();
  MPI_Gatherv(out, 1, mine(), in, in_counts, places, MPI_INT, 0, MPI_COMM_WORLD);
}
static void types_of_scatterv(void) {
  set_counts();
  MPI_Scatterv(out, in_counts, places, MPI_INT, in, 1, mine(), 0, MPI_COMM_WORLD);
}
static void types_of_alltoallv(void) {
  set_counts();
  MPI_Alltoallv(out, in_counts, places, MPI_INT, in, in_counts, places, mine(), MPI_COMM_WORLD);
}
/* Along the edges of a ring; of two edges between the same ranks, whose types rank 2 takes for each other's. */
static void types_of_edges(void) {
  const int all_periodic = 1;
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &all_periodic, 0, &ring);
  MPI_Neighbor_allgather(out, 2, mine(), in, 2, MPI_INT, ring);
}
static void types_of_edges_beside(void) {
  const int all_periodic = 1;
  MPI_Comm ring;
  set_counts();
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &all_periodic, 0, &ring);
  MPI_Ineighbor_allgatherv(out, 1, MPI_INT, in, in_counts, places, mine(), ring, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void exchange_by_two_edges(int swapped) {
  const int next[2] = {(rank + 1) % size, (rank + 1) % size}, before[2] = {(rank + size - 1) % size, (rank + size - 1) % size};
  const int one[2] = {1, 1};
  const MPI_Aint at[2] = {0, 8};
  const MPI_Datatype types[2] = {MPI_INT, MPI_FLOAT}, others[2] = {MPI_FLOAT, MPI_INT};
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, before, MPI_UNWEIGHTED, 2, next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  MPI_Neighbor_alltoallw(out, one, at, types, in, one, at, swapped ? others : types, graph);
  MPI_Comm_free(&graph);
}
static void types_of_two_edges(void) { exchange_by_two_edges(rank == 2); }
/* Between the groups of even and of odd ranks. */
static MPI_Comm between_groups(void) {
  MPI_Comm local, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &local);
  MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &both);
  MPI_Comm_free(&local);
  for (int i = 0; i < 2; ++i) counts[i] = in_counts[i] = 1, places[i] = 2 * i;
  return both;
}
/* Rank 1 is the root, the even ranks the others. */
static int root_is_1(void) { return rank % 2 == 0 ? 0 : rank == 1 ? MPI_ROOT : MPI_PROC_NULL; }
static MPI_Datatype ours(void) { return rank % 2 ? MPI_INT : MPI_FLOAT; }
#define BETWEEN(name, call)                    \
  static void types_between_##name(void) {     \
    const MPI_Comm both = between_groups();    \
    call;                                      \
  }
BETWEEN(bcast, MPI_Bcast(out, 3, ours(), root_is_1(), both))
BETWEEN(gather, MPI_Gather(out, 1, ours(), in, 1, ours(), root_is_1(), both))
BETWEEN(scatter, MPI_Scatter(out, 1, ours(), in, 1, ours(), root_is_1(), both))
BETWEEN(reduce, MPI_Reduce(out, in, 2, ours(), MPI_SUM, root_is_1(), both))
BETWEEN(allgather, MPI_Allgather(out, 1, MPI_INT, in, 1, ours(), both))
BETWEEN(alltoall, MPI_Alltoall(out, 1, ours(), in, 1, MPI_INT, both))
BETWEEN(ialltoall, MPI_Ialltoall(out, 1, ours(), in, 1, MPI_INT, both, &request); MPI_Wait(&request, MPI_STATUS_IGNORE))
BETWEEN(allreduce, MPI_Allreduce(out, in, 2, ours(), MPI_SUM, both))
BETWEEN(reduce_scatter, MPI_Reduce_scatter_block(out, in, 1, ours(), MPI_SUM, both))
BETWEEN(gatherv, MPI_Gatherv(out, 1, mine(), in, counts, places, MPI_INT, root_is_1(), both))
BETWEEN(scatterv, MPI_Scatterv(out, counts, places, MPI_INT, in, 1, mine(), root_is_1(), both))
BETWEEN(allgatherv, MPI_Allgatherv(out, 1, mine(), in, counts, places, MPI_INT, both))
BETWEEN(room, MPI_Allgatherv(out, 1, MPI_INT, in, counts, places, mine(), both))
BETWEEN(alltoallv, MPI_Alltoallv(out, counts, places, mine(), in, in_counts, places, MPI_INT, both))
/* What one group sends the other receives, which is not what that sends. */
static void types_between_alike(void) {
  const MPI_Comm both = between_groups();
  const MPI_Datatype theirs = rank % 2 ? MPI_FLOAT : MPI_INT, of_blocks[2] = {rank < 2 ? theirs : MPI_CHAR, rank < 2 ? MPI_CHAR : theirs};
  const int at[2] = {0, 8};
  const MPI_Datatype to_blocks[2] = {rank < 2 ? ours() : MPI_CHAR, rank < 2 ? MPI_CHAR : ours()};
  MPI_Datatype pair;
  MPI_Type_contiguous(2, ours(), &pair);
  MPI_Type_commit(&pair);
  MPI_Allgather(out, 1, pair, in, 2, theirs, both);
  MPI_Alltoall(out, 2, ours(), in, 2, theirs, both);
  MPI_Alltoallw(out, counts, at, to_blocks, in, in_counts, at, of_blocks, both);
  in_counts[rank % 2] = 2, in_counts[1 - rank % 2] = 0;
  MPI_Allgatherv(out, rank / 2 == 1 - rank % 2 ? 2 : 0, ours(), in, in_counts, places, theirs, both);
  MPI_Type_free(&pair);
}
/* Also where the neighbours on both sides are one rank. */
static void types_of_edges_alike(void) {
  const int two[2] = {2, 2}, both_periodic[2] = {1, 1}, one[4] = {1, 1, 1, 1};
  const MPI_Aint at[4] = {0, 8, 16, 24};
  const MPI_Datatype types[4] = {MPI_INT, MPI_FLOAT, MPI_UNSIGNED, MPI_INT}, others[4] = {MPI_FLOAT, MPI_INT, MPI_INT, MPI_UNSIGNED};
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, two, both_periodic, 0, &grid);
  MPI_Neighbor_alltoallw(out, one, at, types, in, one, at, others, grid);
  MPI_Neighbor_alltoall(out, rank % 2 ? 1 : 4, rank % 2 ? MPI_INT : MPI_PACKED, in, 1, MPI_INT, grid);
  exchange_by_two_edges(0);
}
/* Other words for the same. */
static void types_alike(void) {
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  if (rank % 2) {
    MPI_Bcast(out, 2, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgather(out, 1, pair, in, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Bcast(out, 8, MPI_PACKED, 0, MPI_COMM_WORLD);
  } else {
    MPI_Bcast(out, 1, pair, 0, MPI_COMM_WORLD);
    MPI_Allgather(out, 2, MPI_INT, in, 1, pair, MPI_COMM_WORLD);
    MPI_Bcast(out, 2, MPI_INT, 0, MPI_COMM_WORLD);
  }
  for (int i = 0; i < size; ++i) counts[i] = i % 2, places[i] = 2 * i; /* nothing is of no type */
  MPI_Gatherv(rank % 2 ? out : NULL, rank % 2, MPI_INT, in, counts, places, MPI_INT, 3, MPI_COMM_WORLD);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) counts[i] = 1;
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, counts, places, pair, MPI_COMM_WORLD);
  MPI_Type_free(&pair);
}
static void never_started(void) {
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  if (rank != 1) MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
#define PROGRAM(name) \
  { #name, name }
  static const struct {
    const char *name;
    void (*function)(void);
  } programs[] = {PROGRAM(missing_rank), PROGRAM(not_alike),     PROGRAM(other_order),    PROGRAM(other_root),   PROGRAM(left_over),
                  PROGRAM(freed),        PROGRAM(started_twice), PROGRAM(not_persistent), PROGRAM(never_started),
                  PROGRAM(other_counts), PROGRAM(other_counts_beside), PROGRAM(other_count_at_root), PROGRAM(other_counts_while_one_sleeps), PROGRAM(other_group_calls_another),
                  PROGRAM(types_of_bcast), PROGRAM(types_of_ibcast), PROGRAM(types_of_reduce), PROGRAM(types_of_gather), PROGRAM(types_of_scatter), PROGRAM(types_of_alltoall), PROGRAM(types_of_allgatherv),
                  PROGRAM(types_of_gatherv), PROGRAM(types_of_scatterv), PROGRAM(types_of_alltoallv), PROGRAM(types_alike),
                  PROGRAM(types_of_edges), PROGRAM(types_of_edges_beside), PROGRAM(types_of_two_edges), PROGRAM(types_of_edges_alike),
                  PROGRAM(types_between_bcast), PROGRAM(types_between_gather), PROGRAM(types_between_scatter), PROGRAM(types_between_reduce), PROGRAM(types_between_allgather),
                  PROGRAM(types_between_alltoall), PROGRAM(types_between_ialltoall), PROGRAM(types_between_allreduce), PROGRAM(types_between_reduce_scatter),
                  PROGRAM(types_between_gatherv), PROGRAM(types_between_scatterv), PROGRAM(types_between_allgatherv), PROGRAM(types_between_room),
                  PROGRAM(types_between_alltoallv), PROGRAM(types_between_alike)};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof *programs; ++i) {
    if (strcmp(argv[1], programs[i].name) == 0) programs[i].function();
  }
  MPI_Finalize();
  return 0;
}
