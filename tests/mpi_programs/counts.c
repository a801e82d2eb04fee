/* The MPI_Count forms of sends and receives, and the tool interface.
   SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong, rank, size;
static void check(int right) { wrong += !right; }

static void ring(void) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  const MPI_Comm all = MPI_COMM_WORLD;
  const MPI_Count n = 3;
  int out[3] = {rank, rank + 1, rank + 2}, in[3];
  MPI_Request requests[2];
  MPI_Status status;
  MPI_Message message;
  int (*const starts[])(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {
      MPI_Isend_c, MPI_Issend_c, MPI_Ibsend_c, MPI_Send_init_c, MPI_Ssend_init_c, MPI_Bsend_init_c, MPI_Irsend_c, MPI_Rsend_init_c};
  char *const buffer = malloc(10000);
  void *detached;
  MPI_Count room = 0;
  MPI_Buffer_attach_c(buffer, 10000);
  for (int kind = 0; kind < 8; ++kind) {
    const int persistent = kind == 3 || kind == 4 || kind == 5 || kind == 7;
    memset(in, -1, sizeof in);
    MPI_Irecv_c(in, n, MPI_INT, previous, kind, all, requests);
    MPI_Barrier(all);
    starts[kind](out, n, MPI_INT, next, kind, all, requests + 1);
    if (persistent) MPI_Start(requests + 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (persistent) MPI_Request_free(requests + 1);
    check(in[0] == previous && in[2] == previous + 2);
  }
  int (*const sends[])(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm) = {MPI_Send_c, MPI_Ssend_c, MPI_Bsend_c, MPI_Rsend_c};
  for (int kind = 0; kind < 4; ++kind) {
    memset(in, -1, sizeof in);
    MPI_Recv_init_c(in, n, MPI_INT, previous, 20 + kind, all, requests);
    MPI_Start(requests);
    MPI_Barrier(all);
    sends[kind](out, n, MPI_INT, next, 20 + kind, all);
    MPI_Wait(requests, &status);
    MPI_Get_count_c(&status, MPI_INT, &room);
    check(room == n && in[1] == previous + 1);
    MPI_Request_free(requests);
  }
  MPI_Buffer_detach_c(&detached, &room);
  check(detached == buffer && room == 10000);
  free(buffer);
  MPI_Isend_c(out, n, MPI_INT, next, 40, all, requests);
  MPI_Mprobe(previous, 40, all, &message, &status);
  MPI_Mrecv_c(in, n, MPI_INT, &message, &status);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  MPI_Isend_c(out, n, MPI_INT, next, 41, all, requests);
  MPI_Mprobe(previous, 41, all, &message, &status);
  MPI_Imrecv_c(in, n, MPI_INT, &message, requests + 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  check(in[2] == previous + 2);
  MPI_Sendrecv_c(out, n, MPI_INT, next, 42, in, n, MPI_INT, previous, 42, all, &status);
  MPI_Isendrecv_c(out, n, MPI_INT, next, 43, in, n, MPI_INT, previous, 43, all, requests);
  MPI_Wait(requests, &status);
  check(in[0] == previous);
  MPI_Sendrecv_replace_c(out, n, MPI_INT, next, 44, previous, 44, all, &status);
  MPI_Isendrecv_replace_c(out, n, MPI_INT, previous, 45, next, 45, all, requests);
  MPI_Wait(requests, &status);
  check(out[0] == rank && out[2] == rank + 2);
  if (size > 1) {
    if (rank == 0) MPI_Send_c(out, n, MPI_INT, 1, 46, all);
    if (rank == 1) MPI_Recv_c(in, n, MPI_INT, 0, 46, all, &status);
  }
  MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  check(MPI_Send_c(out, (MPI_Count)1 << 60, MPI_INT, next, 0, all) == MPI_ERR_COUNT);
}

static void together(void) {
  const MPI_Comm all = MPI_COMM_WORLD;
  int one = rank == 0 ? 42 : 0, sum = 0, before = -1, row[64], column[64], parts[64];
  MPI_Bcast_c(&one, 1, MPI_INT, 0, all);
  check(one == 42);
  MPI_Allreduce_c(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
  check(sum == size * (size - 1) / 2);
  MPI_Reduce_c(&one, &sum, 1, MPI_INT, MPI_SUM, 0, all);
  check(rank != 0 || sum == 42 * size);
  MPI_Scan_c(&one, &sum, 1, MPI_INT, MPI_SUM, all);
  check(sum == 42 * (rank + 1));
  MPI_Exscan_c(&one, &before, 1, MPI_INT, MPI_SUM, all);
  check(before == (rank == 0 ? -1 : 42 * rank));
  for (int i = 0; i < size; ++i) row[i] = 10 * rank + i;
  MPI_Alltoall_c(row, 1, MPI_INT, column, 1, MPI_INT, all);
  for (int i = 0; i < size; ++i) check(column[i] == 10 * i + rank);
  MPI_Allgather_c(&rank, 1, MPI_INT, parts, 1, MPI_INT, all);
  for (int i = 0; i < size; ++i) check(parts[i] == i);
  MPI_Gather_c(&rank, 1, MPI_INT, parts, 1, MPI_INT, size - 1, all);
  MPI_Scatter_c(parts, 1, MPI_INT, &one, 1, MPI_INT, size - 1, all);
  check(one == rank);
  MPI_Reduce_scatter_block_c(row, &sum, 1, MPI_INT, MPI_SUM, all);
  check(sum == 10 * size * (size - 1) / 2 + size * rank);
  MPI_Reduce_local_c(&rank, &sum, 1, MPI_INT, MPI_MAX);
  check(sum >= rank);
}

static void tools(void) {
  int number = -1, provided;
  MPI_T_pvar_session session;
  check(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS && provided == MPI_THREAD_SINGLE);
  check(MPI_T_cvar_get_num(&number) == MPI_SUCCESS && number == 0);
  check(MPI_T_pvar_get_index("none", MPI_T_PVAR_CLASS_STATE, &number) == MPI_T_ERR_INVALID_NAME);
  check(MPI_T_cvar_handle_alloc(0, NULL, NULL, &number) == MPI_T_ERR_INVALID_INDEX);
  check(MPI_T_pvar_session_create(&session) == MPI_SUCCESS);
  check(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) == MPI_SUCCESS);
  check(MPI_T_pvar_session_free(&session) == MPI_SUCCESS && session == MPI_T_PVAR_SESSION_NULL);
  check(MPI_T_finalize() == MPI_SUCCESS);
}

int main(void) {
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  ring();
  together();
  tools();
  int all_wrong = 0;
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all_wrong);
  MPI_Finalize();
  return 0;
}
