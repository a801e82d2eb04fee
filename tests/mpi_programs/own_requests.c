/* Requests that their own rank completes: generalized ones, partitioned messages; and
   statuses that are queried.
   SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int wrong, rank, size;
static void check(int right) { wrong += !right; }

struct state {
  int queried, freed, cancelled;
};
static int query(void *extra, MPI_Status *status) {
  ((struct state *)extra)->queried++;
  MPI_Status_set_elements(status, MPI_INT, 5);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = 7;
  status->MPI_TAG = 8;
  return MPI_SUCCESS;
}
static int release(void *extra) {
  ((struct state *)extra)->freed++;
  return MPI_SUCCESS;
}
static int cancel(void *extra, int complete) {
  ((struct state *)extra)->cancelled += complete ? 100 : 1;
  return MPI_SUCCESS;
}

static void generalized(void) {
  struct state state = {0, 0, 0};
  MPI_Request request, two[2];
  MPI_Status status;
  int flag = 1, count = 0, index;
  MPI_Grequest_start(query, release, cancel, &state, &request);
  MPI_Test(&request, &flag, &status);
  check(!flag && request != MPI_REQUEST_NULL);
  MPI_Cancel(&request);
  check(state.cancelled == 1);
  MPI_Grequest_complete(request);
  MPI_Request_get_status(request, &flag, &status);
  check(flag && status.MPI_TAG == 8 && state.freed == 0);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  check(request == MPI_REQUEST_NULL && count == 5 && status.MPI_SOURCE == 7 && state.freed == 1 && state.queried == 2);

  /* beside a message */
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  int in = -1;
  MPI_Grequest_start(query, release, cancel, &state, two);
  MPI_Irecv(&in, 1, MPI_INT, previous, 3, MPI_COMM_WORLD, two + 1);
  MPI_Send(&rank, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
  MPI_Waitany(2, two, &index, &status);
  check(index == 1 && in == previous);
  MPI_Testall(2, two, &flag, MPI_STATUSES_IGNORE);
  check(!flag);
  MPI_Testany(2, two, &index, &flag, &status);
  check(!flag && index == MPI_UNDEFINED);
  MPI_Grequest_complete(two[0]);
  MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
  check(two[0] == MPI_REQUEST_NULL && state.freed == 2);

  /* freed first */
  MPI_Request kept;
  MPI_Grequest_start(query, release, cancel, &state, &request);
  kept = request;
  MPI_Request_free(&request);
  check(state.freed == 2 && request == MPI_REQUEST_NULL);
  MPI_Grequest_complete(kept);
  check(state.freed == 3);

  /* nobody else would complete it */
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Grequest_start(query, release, cancel, &state, &request);
  check(MPI_Wait(&request, &status) == MPI_ERR_REQUEST);
  check(MPI_Waitany(1, &request, &index, &status) == MPI_ERR_REQUEST);
  MPI_Grequest_complete(request);
  check(MPI_Grequest_complete(request) == MPI_ERR_REQUEST);
  MPI_Waitsome(1, &request, &count, &index, &status);
  check(count == 1 && index == 0);
}

static void partitions(void) {
  enum { pieces = 4, each = 6 };
  int out[pieces * each], in[pieces * each], flag = 1;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size, last[] = {3, 1};
  MPI_Request send, receive, plain;
  MPI_Psend_init(out, pieces, each, MPI_INT, next, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
  MPI_Precv_init_c(in, 3, pieces * each / 3, MPI_INT, previous, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  for (int round = 0; round < 3; ++round) {
    memset(in, -1, sizeof in);
    MPI_Start(&receive);
    MPI_Start(&send);
    MPI_Test(&send, &flag, MPI_STATUS_IGNORE);
    check(!flag);
    for (int i = 0; i < pieces * each; ++i) out[i] = 1000 * round + 100 * rank + i;
    if (round == 0) {
      for (int piece = 0; piece < pieces; ++piece) MPI_Pready(piece, send);
    } else if (round == 1) {
      MPI_Pready_range(0, pieces - 1, send);
    } else {
      MPI_Pready(0, send);
      MPI_Pready(2, send);
      MPI_Pready_list(2, last, send);
    }
    if (round == 1) {
      for (int piece = 0; piece < 3; ++piece) {
        do MPI_Parrived(receive, piece, &flag);
        while (!flag);
        check(in[piece * 8] == 1000 * round + 100 * previous + 8 * piece);
      }
    }
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    for (int i = 0; i < pieces * each; ++i) check(in[i] == 1000 * round + 100 * previous + i);
  }
  /* A plain receive does not get such a message, nor the other way round. */
  int value = -1;
  MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &plain);
  MPI_Start(&receive);
  MPI_Start(&send);
  MPI_Pready_range(0, pieces - 1, send);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  check(value == -1);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(&rank, 1, MPI_INT, next, 4, MPI_COMM_WORLD);
  MPI_Wait(&plain, MPI_STATUS_IGNORE);
  check(value == previous);
  check(MPI_Pready(0, send) == MPI_ERR_REQUEST);
  MPI_Start(&send);
  check(MPI_Pready(pieces, send) == MPI_ERR_ARG);
  MPI_Pready(0, send);
  check(MPI_Pready(0, send) == MPI_ERR_ARG);
  check(MPI_Wait(&send, MPI_STATUS_IGNORE) == MPI_ERR_REQUEST);
  MPI_Start(&receive);
  MPI_Pready_range(1, pieces - 1, send);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
}

/* Two of one tag: the first that was made is for the first, whichever starts first. */
static void in_their_order(void) {
  int out[2] = {10 * rank, 10 * rank + 1}, in[2] = {-1, -1};
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  MPI_Request sends[2], receives[2];
  MPI_Status status;
  for (int i = 0; i < 2; ++i) {
    MPI_Psend_init(out + i, 1, 1, MPI_INT, next, 9, MPI_COMM_WORLD, MPI_INFO_NULL, sends + i);
    MPI_Precv_init(in + i, 1, 1, MPI_INT, previous, 9, MPI_COMM_WORLD, MPI_INFO_NULL, receives + i);
  }
  for (int i = 1; i >= 0; --i) {
    MPI_Start(sends + i);
    MPI_Pready(0, sends[i]);
  }
  for (int i = 0; i < 2; ++i) {
    MPI_Start(receives + i);
    MPI_Wait(receives + i, &status);
    check(in[i] == 10 * previous + i && status.MPI_TAG == 9 && status.MPI_SOURCE == previous);
    MPI_Wait(sends + i, MPI_STATUS_IGNORE);
    MPI_Request_free(sends + i);
    MPI_Request_free(receives + i);
  }
  MPI_Request unused;
  check(MPI_Precv_init(in, 1, 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &unused) == MPI_ERR_RANK);
}

/* What nobody met on a communicator does not count on the next one. */
static void on_another_communicator(void) {
  int out = rank, in = -1;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  MPI_Request send, receive;
  MPI_Comm copy;
  for (int round = 0; round < 3; ++round) {
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (rank == round % size) {
      MPI_Psend_init(&out, 1, 1, MPI_INT, next, 9, copy, MPI_INFO_NULL, &send);
      MPI_Request_free(&send);
    } else if (round > 0) {
      MPI_Precv_init(&in, 1, 1, MPI_INT, previous, 8, copy, MPI_INFO_NULL, &receive);
      MPI_Request_free(&receive);
    }
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    for (int tag = 8; tag < 10; ++tag) {
      MPI_Precv_init(&in, 1, 1, MPI_INT, previous, tag, copy, MPI_INFO_NULL, &receive);
      MPI_Psend_init(&out, 1, 1, MPI_INT, next, tag, copy, MPI_INFO_NULL, &send);
      MPI_Start(&receive);
      MPI_Start(&send);
      MPI_Pready(0, send);
      MPI_Wait(&receive, MPI_STATUS_IGNORE);
      MPI_Wait(&send, MPI_STATUS_IGNORE);
      check(in == previous);
      MPI_Request_free(&send);
      MPI_Request_free(&receive);
    }
    MPI_Comm_free(&copy);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void looked_at(void) {
  MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[3];
  int in[2] = {-1, -1}, flag = 0, index = 0, count, indices[3];
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  MPI_Request_get_status_any(3, requests, &index, &flag, statuses);
  check(flag && index == MPI_UNDEFINED);
  MPI_Request_get_status_some(3, requests, &count, indices, statuses);
  check(count == MPI_UNDEFINED);
  MPI_Irecv(in, 1, MPI_INT, previous, 6, MPI_COMM_WORLD, requests);
  MPI_Irecv(in + 1, 1, MPI_INT, previous, 7, MPI_COMM_WORLD, requests + 2);
  MPI_Request_get_status_all(3, requests, &flag, statuses);
  check(!flag);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(&rank, 1, MPI_INT, next, 7, MPI_COMM_WORLD);
  do MPI_Request_get_status_any(3, requests, &index, &flag, statuses);
  while (!flag);
  check(index == 2 && statuses[0].MPI_TAG == 7 && requests[2] != MPI_REQUEST_NULL);
  MPI_Request_get_status_some(3, requests, &count, indices, statuses);
  check(count == 1 && indices[0] == 2 && statuses[0].MPI_SOURCE == previous);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(&rank, 1, MPI_INT, next, 6, MPI_COMM_WORLD);
  do MPI_Request_get_status_all(3, requests, &flag, statuses);
  while (!flag);
  check(statuses[0].MPI_TAG == 6 && statuses[2].MPI_TAG == 7);
  MPI_Waitall(3, requests, statuses);
  check(in[0] == previous && in[1] == previous);
}

int main(void) {
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  looked_at();
  generalized();
  partitions();
  in_their_order();
  on_another_communicator();
  int all_wrong = 0;
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all_wrong);
  MPI_Finalize();
  return 0;
}
