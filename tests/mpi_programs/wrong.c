/* Wrong programs, by name: CMakeLists.txt has wormcube's report for each.
   SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static char buffer[1 << 20];

static void never_called(void *in, void *inout, int *length, MPI_Datatype *type) { (void)in, (void)inout, (void)length, (void)type; }
static void head_to_head(void) {
  const int other = rank ^ 1;
  MPI_Send(buffer, sizeof buffer, MPI_CHAR, other, 1, MPI_COMM_WORLD);
  MPI_Recv(buffer, sizeof buffer, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
/* Two rows of the table, each of half the ranks, no two of them neighbours. */
static void every_other(void) {
  int word;
  MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, rank % 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wrong_tag(void) {
  int value = rank;
  MPI_Send(&value, 1, MPI_INT, (rank + 1) % size, 8, MPI_COMM_WORLD);
  MPI_Recv(&value, 1, MPI_INT, (rank + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void missing_rank(void) {
  if (rank != 2) MPI_Barrier(MPI_COMM_WORLD);
  int value;
  if (rank == 2) MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void early_end(void) {
  int value;
  if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void self_send(void) { MPI_Ssend(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD); }
static void all_wait_for_any(void) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void waitall_cycle(void) {
  int value;
  MPI_Request requests[2];
  MPI_Irecv(&value, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, requests);
  MPI_Issend(&rank, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, requests + 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
static void other_communicator(void) {
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_name(copy, "copy");
  int value = 1;
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 4, copy, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}
static void truncation(void) {
  int values[4] = {0};
  if (rank == 0) MPI_Send(values, 4, MPI_INT, 1, 3, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(values, 2, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void other_root(void) { MPI_Bcast(buffer, 4, MPI_INT, rank == 3 ? 1 : 0, MPI_COMM_WORLD); }
static void other_collective(void) {
  int value = 1, sum;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  } else {
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
}
static void other_size(void) { MPI_Bcast(buffer, rank == 1 ? 5 : 4, MPI_INT, 0, MPI_COMM_WORLD); }
static void other_operator(void) {
  int value = 1, result;
  MPI_Allreduce(&value, &result, 1, MPI_INT, rank == 2 ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
}
static void bad_root(void) { MPI_Bcast(buffer, 1, MPI_INT, size, MPI_COMM_WORLD); }
static void bad_rank(void) { MPI_Send(buffer, 1, MPI_INT, 99, 0, MPI_COMM_WORLD); }
static void bad_tag(void) { MPI_Send(buffer, 1, MPI_INT, 0, -5, MPI_COMM_WORLD); }
static void bad_count(void) { MPI_Send(buffer, -1, MPI_INT, 0, 0, MPI_COMM_WORLD); }
static void null_type(void) { MPI_Send(buffer, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD); }
static void uncommitted(void) {
  MPI_Datatype type;
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Send(buffer, 1, type, 0, 0, MPI_COMM_WORLD);
}
static void freed_type(void) {
  MPI_Datatype type, kept;
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_commit(&type);
  kept = type;
  MPI_Type_free(&type);
  MPI_Send(buffer, 1, kept, 0, 0, MPI_COMM_WORLD);
}
static void freed_communicator(void) {
  MPI_Comm copy, kept;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  kept = copy;
  MPI_Comm_free(&copy);
  MPI_Barrier(kept);
}
static void null_communicator(void) { MPI_Barrier(MPI_COMM_NULL); }
static void bad_operator(void) {
  double value = 1, result;
  MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD);
}
static void request_twice(void) {
  MPI_Request request, kept;
  MPI_Isend(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
  kept = request;
  int value;
  MPI_Recv(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Wait(&kept, MPI_STATUS_IGNORE);
}
static void null_buffer(void) { MPI_Send(NULL, 3, MPI_INT, 0, 0, MPI_COMM_WORLD); }
static void left_over(void) {
  static int value;
  MPI_Request request;
  if (rank == 0) MPI_Irecv(&value, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &request);
  if (rank == 1) MPI_Send(&value, 1, MPI_INT, 2, 9, MPI_COMM_WORLD);
}
static void after_finalize(void) {
  MPI_Finalize();
  MPI_Barrier(MPI_COMM_WORLD);
}
static void no_finalize(void) { exit(0); }
static void ends_with_5(void) {
  if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 5);
  MPI_Barrier(MPI_COMM_WORLD);
}
static void exits_with_9(void) {
  if (rank == 1) exit(9);
  MPI_Barrier(MPI_COMM_WORLD);
}
static void code_7_at_end(void) {
  MPI_Finalize();
  exit(rank == 2 ? 7 : 0);
}
static void crash(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 3) *(volatile int *)8 = 1;
  MPI_Barrier(MPI_COMM_WORLD);
}
static void crash_in_library(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  const char *volatile nowhere = (const char *)8;
  if (rank == 3) printf("%zu\n", strlen(nowhere));
  MPI_Barrier(MPI_COMM_WORLD);
}
static void aborts(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 3) abort();
  MPI_Barrier(MPI_COMM_WORLD);
}
static void not_provided(void) {
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "nothing", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
}
/* Right where sends have buffers, wrong where they have none. */
static void relies_on_buffers(void) {
  int value;
  MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 2, MPI_COMM_WORLD);
  MPI_Recv(&value, 1, MPI_INT, (rank + size - 1) % size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
/* Each waits on a communicator of its own for the next. */
static void three_communicators(void) {
  MPI_Comm copies[3];
  for (int i = 0; i < 3; ++i) {
    char name[] = "copy 0";
    name[5] = (char)('0' + i);
    MPI_Comm_dup(MPI_COMM_WORLD, copies + i);
    MPI_Comm_set_name(copies[i], name);
  }
  if (rank < 3) MPI_Ssend(&rank, 1, MPI_INT, (rank + 1) % 3, 0, copies[rank]);
  MPI_Barrier(MPI_COMM_WORLD);
}
static void never_started(void) {
  static int value;
  MPI_Request request;
  if (rank == 0) {
    MPI_Send_init(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void started_twice(void) {
  static int value;
  MPI_Request request;
  MPI_Recv_init(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Start(&request);
}
static void freed_request(void) {
  MPI_Request request, kept;
  MPI_Send_init(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
  kept = request;
  MPI_Request_free(&request);
  MPI_Start(&kept);
}
static void freed_twice(void) {
  MPI_Comm copy, kept;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  kept = copy;
  MPI_Comm_free(&copy);
  MPI_Comm_free(&kept);
}
static void no_communicator(void) {
  static char nothing[4096];
  MPI_Barrier((MPI_Comm)(void *)nothing);
}
static void init_twice(void) { MPI_Init(NULL, NULL); }
static void predefined_freed(void) {
  MPI_Comm world = MPI_COMM_WORLD;
  MPI_Comm_free(&world);
}
static void other_gather(void) {
  int mine[2] = {0}, all[8];
  MPI_Gather(mine, rank == 2 ? 2 : 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
}
static void long_gatherv(void) {
  int mine[2] = {0}, all[8], counts[4] = {1, 1, 1, 1}, places[4] = {0, 1, 2, 3};
  MPI_Gatherv(mine, rank == 2 ? 2 : 1, MPI_INT, all, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
}
static void send_in_place(void) { MPI_Send(MPI_IN_PLACE, 1, MPI_INT, rank, 0, MPI_COMM_WORLD); }
static void no_room_to_buffer(void) { MPI_Bsend(buffer, 100, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD); }
static void freed_operator(void) {
  int value = 1, sum;
  MPI_Op op, kept;
  MPI_Op_create(never_called, 1, &op);
  kept = op;
  MPI_Op_free(&op);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, kept, MPI_COMM_WORLD);
}
static void null_operator(void) {
  int value = 1, sum;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD);
}
static void null_group(void) {
  MPI_Comm made;
  MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &made);
}
static void too_large_a_grid(void) {
  const int sides[2] = {2, 3}, periods[2] = {0, 0};
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, periods, 0, &grid);
}
static void no_grid(void) {
  int from, to;
  MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &from, &to);
}
/* Windows. */
static int exposed[4];
static MPI_Win window_on_all(void) {
  MPI_Win window;
  MPI_Win_create(exposed, sizeof exposed, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  return window;
}
static void put(MPI_Win window, int target, int place) { MPI_Put(&rank, 1, MPI_INT, target, place, 1, MPI_INT, window); }
static void no_epoch(void) { put(window_on_all(), 0, 0); }
static void other_target(void) {
  MPI_Win window = window_on_all();
  MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
  put(window, 2, 0);
}
static void after_unlock(void) {
  MPI_Win window = window_on_all();
  MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
  MPI_Win_unlock(1, window);
  put(window, 1, 0);
}
static void locked_twice(void) {
  MPI_Win window = window_on_all();
  MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
  MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
}
static void never_locked(void) { MPI_Win_unlock(1, window_on_all()); }
static void out_of_window(void) {
  MPI_Win window = window_on_all();
  MPI_Win_fence(0, window);
  put(window, 1, 4);
}
static void beyond_addresses(void) {
  MPI_Win window = window_on_all();
  MPI_Win_fence(0, window);
  MPI_Put(&rank, 1, MPI_INT, 1, ((MPI_Aint)1 << 62) + 1, 1, MPI_INT, window);
}
static MPI_Datatype far_apart(void) {
  MPI_Datatype type;
  MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)1 << 62, &type);
  MPI_Type_commit(&type);
  return type;
}
static void beyond_memory(void) {
  if (rank == 0) MPI_Send(&rank, 4, far_apart(), 1, 0, MPI_COMM_WORLD);
}
static void all_beyond_memory(void) { MPI_Bcast(&rank, 4, far_apart(), 0, MPI_COMM_WORLD); }
static void block_beyond_memory(void) {
  int counts[64] = {0}, places[64] = {0};
  counts[1] = 4;
  MPI_Alltoallv(&rank, counts, places, far_apart(), &rank, counts, places, MPI_INT, MPI_COMM_WORLD);
}
static void target_beyond_memory(void) {
  int mine[4] = {0};
  MPI_Win window = window_on_all();
  MPI_Win_fence(0, window);
  MPI_Put(mine, 4, MPI_INT, 1, 0, 4, far_apart(), window);
}
static void too_many_bytes(void) {
  MPI_Datatype type;
  MPI_Type_contiguous(1 << 30, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  if (rank == 0) MPI_Send(&rank, 1 << 30, type, 1, 0, MPI_COMM_WORLD);
}
static void too_many_communicators(void) {
  MPI_Comm copy;
  for (;;) MPI_Comm_dup(MPI_COMM_SELF, &copy);
}
static void never_unlocked(void) {
  MPI_Win window = window_on_all();
  MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
  MPI_Win_free(&window);
}
static void freed_window(void) {
  MPI_Win window = window_on_all(), kept = window;
  MPI_Win_free(&window);
  MPI_Win_fence(0, kept);
}
static void missing_fence(void) {
  MPI_Win window = window_on_all();
  if (rank != 2) MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}
static void never_posted(void) {
  MPI_Win window = window_on_all();
  MPI_Group all, first;
  const int zero = 0;
  MPI_Win_get_group(window, &all);
  MPI_Group_incl(all, 1, &zero, &first);
  if (rank == 1) MPI_Win_start(first, 0, window);
  MPI_Barrier(MPI_COMM_WORLD);
}
static void kept_lock(void) {
  MPI_Win window = window_on_all();
  if (rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 3, 0, window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) MPI_Win_lock(MPI_LOCK_SHARED, 3, 0, window);
  int value;
  if (rank == 0) MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}
static void shared_memory(void) {
  MPI_Win window;
  int *memory;
  MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
}
static void never_attached(void) {
  MPI_Win window;
  MPI_Aint address;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Get_address(exposed, &address);
  MPI_Win_fence(0, window);
  MPI_Put(&rank, 1, MPI_INT, 0, address, 1, MPI_INT, window);
}
static void own_operator(void) {
  MPI_Win window = window_on_all();
  MPI_Op op;
  MPI_Op_create(never_called, 1, &op);
  MPI_Win_fence(0, window);
  MPI_Accumulate(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, op, window);
}
static void errors_returned(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int error = MPI_Send(buffer, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(error, text, &length);
  if (rank == 0) printf("%d %s\n", error == MPI_ERR_RANK, text);
}

int main(int argc, char **argv) {
#define PROGRAM(name) \
  { #name, name }
  static const struct {
    const char *name;
    void (*function)(void);
  } programs[] = {PROGRAM(head_to_head),     PROGRAM(wrong_tag),     PROGRAM(missing_rank),      PROGRAM(early_end),
                  PROGRAM(self_send),        PROGRAM(all_wait_for_any), PROGRAM(waitall_cycle),  PROGRAM(other_communicator),
                  PROGRAM(truncation),       PROGRAM(other_root),    PROGRAM(other_collective),  PROGRAM(other_size),
                  PROGRAM(other_operator),   PROGRAM(bad_root),      PROGRAM(bad_rank),          PROGRAM(bad_tag),
                  PROGRAM(bad_count),        PROGRAM(null_type),     PROGRAM(uncommitted),       PROGRAM(freed_type),
                  PROGRAM(freed_communicator), PROGRAM(null_communicator), PROGRAM(bad_operator), PROGRAM(request_twice),
                  PROGRAM(null_buffer),      PROGRAM(left_over),     PROGRAM(after_finalize),    PROGRAM(no_finalize),
                  PROGRAM(ends_with_5),      PROGRAM(exits_with_9),  PROGRAM(code_7_at_end),     PROGRAM(crash),          PROGRAM(crash_in_library),  PROGRAM(aborts),
                  PROGRAM(not_provided),     PROGRAM(errors_returned), PROGRAM(relies_on_buffers), PROGRAM(three_communicators),
                  PROGRAM(never_started),    PROGRAM(started_twice), PROGRAM(freed_request),     PROGRAM(freed_twice),
                  PROGRAM(no_communicator),  PROGRAM(init_twice),    PROGRAM(predefined_freed),  PROGRAM(other_gather),
                  PROGRAM(long_gatherv),     PROGRAM(send_in_place), PROGRAM(no_room_to_buffer), PROGRAM(freed_operator),
                  PROGRAM(null_operator),    PROGRAM(null_group),    PROGRAM(too_large_a_grid),  PROGRAM(no_grid),
                  PROGRAM(no_epoch),         PROGRAM(other_target),  PROGRAM(after_unlock),      PROGRAM(locked_twice),
                  PROGRAM(never_locked),     PROGRAM(out_of_window), PROGRAM(beyond_addresses), PROGRAM(beyond_memory), PROGRAM(all_beyond_memory), PROGRAM(block_beyond_memory),
                  PROGRAM(target_beyond_memory), PROGRAM(too_many_bytes), PROGRAM(too_many_communicators), PROGRAM(never_unlocked),    PROGRAM(freed_window),
                  PROGRAM(missing_fence),    PROGRAM(never_posted),  PROGRAM(kept_lock),         PROGRAM(shared_memory),
                  PROGRAM(never_attached),   PROGRAM(own_operator),  PROGRAM(every_other)};
  if (argc > 1 && strcmp(argv[1], "before_init") == 0) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof *programs; ++i) {
    if (strcmp(argv[1], programs[i].name) == 0) programs[i].function();
  }
  MPI_Finalize();
  return 0;
}
