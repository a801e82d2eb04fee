/* Buffers of a communicator, a session and a rank, automatic ones, and flushing. SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong;
#define CHECK(condition) \
  if (!(condition)) ++wrong, fprintf(stderr, "buffers.c:%d\n", __LINE__)

enum { bytes = 300000, room = bytes + MPI_BSEND_OVERHEAD }; /* too long for the network to keep */
static char data[bytes], got[bytes];

/* A flush waits for the receive, which the same rank posts after it. */
static void flush_to_myself(MPI_Comm on, int (*iflush)(MPI_Comm, MPI_Request *), int (*flush)(MPI_Comm)) {
  int rank, done;
  MPI_Request requests[2];
  MPI_Comm_rank(on, &rank);
  memset(data, rank + 1, bytes);
  memset(got, 0, bytes);
  MPI_Bsend(data, bytes, MPI_CHAR, rank, 5, on);
  memset(data, 0, bytes); /* it is a copy */
  CHECK(MPI_Bsend(data, bytes, MPI_CHAR, rank, 6, on) != MPI_SUCCESS);
  iflush(on, requests);
  MPI_Test(requests, &done, MPI_STATUS_IGNORE);
  CHECK(!done);
  MPI_Irecv(got, bytes, MPI_CHAR, rank, 5, on, requests + 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(got[0] == rank + 1 && got[bytes - 1] == rank + 1);
  /* There is room again. */
  MPI_Irecv(got, bytes, MPI_CHAR, rank, 6, on, requests);
  CHECK(MPI_Bsend(data, bytes, MPI_CHAR, rank, 6, on) == MPI_SUCCESS);
  flush(on);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  iflush(on, requests);
  MPI_Test(requests, &done, MPI_STATUS_IGNORE);
  CHECK(done && requests[0] == MPI_REQUEST_NULL);
  flush(on);
}

static int rank_iflush(MPI_Comm on, MPI_Request *request) { return (void)on, MPI_Buffer_iflush(request); }
static int rank_flush(MPI_Comm on) { return (void)on, MPI_Buffer_flush(); }
static MPI_Session session;
static int session_iflush(MPI_Comm on, MPI_Request *request) { return (void)on, MPI_Session_iflush_buffer(session, request); }
static int session_flush(MPI_Comm on) { return (void)on, MPI_Session_flush_buffer(session); }

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm world, other, of_session;
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Comm_rank(world, &rank);
  MPI_Comm_size(world, &size);
  void *const buffer = malloc(room), *found;
  int length;
  MPI_Count large;
  MPI_Buffer_attach(buffer, room);
  flush_to_myself(world, rank_iflush, rank_flush);
  /* A communicator's own comes first; what is made of it has none. */
  void *const own = malloc(2 * room);
  CHECK(MPI_Comm_attach_buffer(world, own, room) == MPI_SUCCESS);
  CHECK(MPI_Comm_attach_buffer(world, own, room) != MPI_SUCCESS);
  MPI_Comm_dup(world, &other);
  flush_to_myself(world, MPI_Comm_iflush_buffer, MPI_Comm_flush_buffer);
  MPI_Request held;
  MPI_Bsend(data, bytes, MPI_CHAR, rank, 7, world);
  flush_to_myself(other, rank_iflush, rank_flush); /* the other buffer is empty */
  MPI_Irecv(got, bytes, MPI_CHAR, rank, 7, world, &held);
  MPI_Comm_detach_buffer(world, &found, &length);
  CHECK(found == own && length == room);
  MPI_Wait(&held, MPI_STATUS_IGNORE);
  MPI_Comm_detach_buffer(world, &found, &length);
  CHECK(found == NULL && length == 0);
  MPI_Buffer_detach_c(&found, &large);
  CHECK(found == buffer && large == room);
  CHECK(MPI_Bsend(data, 1, MPI_CHAR, rank, 8, other) != MPI_SUCCESS);
  /* As much as is needed, to the neighbour. */
  MPI_Comm_attach_buffer_c(other, MPI_BUFFER_AUTOMATIC, 7);
  for (int i = 0; i < 5; ++i) MPI_Bsend(data, bytes, MPI_CHAR, (rank + 1) % size, i, other);
  for (int i = 4; i >= 0; --i) MPI_Recv(got, bytes, MPI_CHAR, (rank + size - 1) % size, i, other, MPI_STATUS_IGNORE);
  MPI_Comm_detach_buffer_c(other, &found, &large);
  CHECK(found == MPI_BUFFER_AUTOMATIC && large == 0);
  /* A session's is for what comes from it. */
  MPI_Group group, part;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Group_incl(group, 1, &rank, &part);
  MPI_Session_attach_buffer(session, own, room);
  MPI_Comm parent;
  MPI_Comm_create_from_group(part, "buffers", MPI_INFO_NULL, MPI_ERRORS_RETURN, &parent);
  MPI_Comm_dup(parent, &of_session);
  flush_to_myself(of_session, session_iflush, session_flush);
  CHECK(MPI_Bsend(data, 1, MPI_CHAR, rank, 8, world) != MPI_SUCCESS);
  MPI_Session_detach_buffer_c(session, &found, &large);
  CHECK(found == own && large == room);
  MPI_Comm_free(&parent);
  MPI_Comm_free(&of_session);
  MPI_Group_free(&group);
  MPI_Group_free(&part);
  MPI_Session_finalize(&session);
  MPI_Comm_free(&other);
  int all_wrong;
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, world);
  if (rank == 0) printf("%d wrong\n", all_wrong);
  MPI_Comm_free(&world);
  free(buffer);
  free(own);
  MPI_Finalize();
}
