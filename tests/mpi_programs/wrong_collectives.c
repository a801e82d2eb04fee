/* Nonblocking and persistent collectives that are wrong, by name: what wormcube says of each is in CMakeLists.txt. SPDX-License-Identifier: Apache-2.0 */
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
/* Rank 3 sleeps, again and again, and is to do so until the job ends. */
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
/* As many bytes, of another type at rank 2: told with --strict. */
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
                  PROGRAM(types_of_gatherv), PROGRAM(types_of_scatterv), PROGRAM(types_of_alltoallv), PROGRAM(types_alike)};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof *programs; ++i) {
    if (strcmp(argv[1], programs[i].name) == 0) programs[i].function();
  }
  MPI_Finalize();
  return 0;
}
