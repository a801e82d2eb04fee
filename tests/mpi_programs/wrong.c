/* Programs that are wrong, by name: what wormcube says of each is in CMakeLists.txt. SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static char buffer[1 << 20];

static void head_to_head(void) {
  const int other = rank ^ 1;
  MPI_Send(buffer, sizeof buffer, MPI_CHAR, other, 1, MPI_COMM_WORLD);
  MPI_Recv(buffer, sizeof buffer, MPI_CHAR, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
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
static void not_provided(void) {
  MPI_Win window;
  MPI_Win_create(buffer, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
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
                  PROGRAM(ends_with_5),      PROGRAM(exits_with_9),  PROGRAM(code_7_at_end),     PROGRAM(crash),
                  PROGRAM(not_provided),     PROGRAM(errors_returned)};
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
