/* Sends from an attached buffer, and messages matched before they are received.
   SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int class_of(int error) {
  int its_class;
  MPI_Error_class(error, &its_class);
  return its_class;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  enum { COUNT = 100000 };
  static int out[COUNT], in[COUNT];
  const int bytes = (int)sizeof out + 8 * MPI_BSEND_OVERHEAD + 400;
  void *const lent = malloc((size_t)bytes);
  MPI_Buffer_attach(lent, bytes);
  /* All send first, and may write to what they have sent. */
  for (int i = 0; i < COUNT; ++i) out[i] = rank + i;
  MPI_Bsend(out, COUNT, MPI_INT, next, 1, MPI_COMM_WORLD);
  for (int i = 0; i < COUNT; ++i) out[i] = -1;
  MPI_Recv(in, COUNT, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < COUNT; ++i) wrong += in[i] != previous + i;
  MPI_Request request;
  MPI_Ibsend(&rank, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Recv(in, 1, MPI_INT, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  wrong += in[0] != previous;
  for (int i = 0; i < 4; ++i) out[i] = 0;
  MPI_Bsend_init(out, 4, MPI_INT, next, 5, MPI_COMM_WORLD, &request);
  for (int turn = 0; turn < 3; ++turn) {
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* inactive */
    out[3] = rank + turn;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    out[3] = -1;
  }
  MPI_Request_free(&request);
  for (int turn = 0; turn < 3; ++turn) {
    MPI_Recv(in, 4, MPI_INT, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += in[3] != previous + turn;
  }
  void *given;
  int given_bytes;
  MPI_Buffer_detach(&given, &given_bytes);
  wrong += given != lent || given_bytes != bytes;
  free(lent);
  /* MPICH takes 96 bytes beside the data of each, so there are programs that lend just that. */
  enum { several = 10, each = 10 * sizeof(int), room = several * (each + 96) };
  static char small[room];
  MPI_Buffer_attach(small, room);
  for (int i = 0; i < several; ++i) MPI_Bsend(out, 10, MPI_INT, next, 7 + i, MPI_COMM_WORLD);
  for (int i = 0; i < several; ++i) MPI_Recv(in, 10, MPI_INT, previous, 7 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Buffer_detach(&given, &given_bytes);
  wrong += given != small || given_bytes != room;
  /* Too small a buffer is reported. */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  wrong += class_of(MPI_Bsend(&rank, 1, MPI_INT, next, 2, MPI_COMM_WORLD)) != MPI_ERR_BUFFER;
  MPI_Bsend_init(&rank, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &request);
  wrong += class_of(MPI_Start(&request)) != MPI_ERR_BUFFER;
  MPI_Request_free(&request);
  /* A claimed message is no other receive's. */
  for (int i = 0; i < 2; ++i) {
    out[i] = 10 * rank + i;
    MPI_Isend(out + i, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
  }
  MPI_Message message;
  MPI_Status status;
  MPI_Mprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &message, &status);
  int count;
  MPI_Get_count(&status, MPI_INT, &count);
  wrong += status.MPI_SOURCE != previous || count != 1;
  MPI_Recv(in + 1, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Mrecv(in, 1, MPI_INT, &message, &status);
  wrong += in[0] != 10 * previous || in[1] != 10 * previous + 1 || message != MPI_MESSAGE_NULL;
  int flag;
  MPI_Improbe(MPI_ANY_SOURCE, 44, MPI_COMM_WORLD, &flag, &message, &status);
  wrong += flag || message != MPI_MESSAGE_NULL;
  MPI_Isend(&rank, 1, MPI_INT, next, 4, MPI_COMM_WORLD, &request);
  for (flag = 0; !flag;) MPI_Improbe(previous, 4, MPI_COMM_WORLD, &flag, &message, &status);
  MPI_Request receive;
  MPI_Imrecv(in, 1, MPI_INT, &message, &receive);
  MPI_Wait(&receive, &status);
  wrong += in[0] != previous || status.MPI_TAG != 4;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
  wrong += message != MPI_MESSAGE_NO_PROC;
  MPI_Mrecv(in, 1, MPI_INT, &message, &status);
  wrong += status.MPI_SOURCE != MPI_PROC_NULL;
  int all;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all);
  MPI_Finalize();
  return wrong != 0;
}
