/* Messages with every kind of send and wait: all are checked, and rank 0 prints how many.
   SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int wrong, checks;
static void check(int right, int line) {
  ++checks;
  if (!right && wrong++ == 0) printf("line %d is wrong\n", line);
}
#define CHECK(right) check((right), __LINE__)

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  MPI_Status status;
  /* A ring by Sendrecv, short and long. */
  for (int count = 0; count <= 100000; count = count * 7 + 1) {
    int *const out = malloc((size_t)(count + 1) * sizeof *out), *const in = malloc((size_t)(count + 1) * sizeof *in);
    for (int i = 0; i < count; ++i) out[i] = rank * 1000003 + i;
    MPI_Sendrecv(out, count, MPI_INT, next, 3, in, count, MPI_INT, previous, 3, MPI_COMM_WORLD, &status);
    int got, right = 1;
    MPI_Get_count(&status, MPI_INT, &got);
    for (int i = 0; i < count; ++i) right = right && in[i] == previous * 1000003 + i;
    CHECK(right && got == count && status.MPI_SOURCE == previous && status.MPI_TAG == 3);
    free(out), free(in);
  }
  /* To all and from all, at once. */
  MPI_Request *const requests = malloc(2 * (size_t)size * sizeof *requests);
  MPI_Status *const statuses = malloc(2 * (size_t)size * sizeof *statuses);
  double *const sent = malloc((size_t)size * sizeof *sent), *const received = malloc((size_t)size * sizeof *received);
  for (int i = 0; i < size; ++i) MPI_Irecv(received + i, 1, MPI_DOUBLE, i, 5, MPI_COMM_WORLD, requests + i);
  for (int i = 0; i < size; ++i) {
    sent[i] = rank + i / 1000.0;
    MPI_Isend(sent + i, 1, MPI_DOUBLE, i, 5, MPI_COMM_WORLD, requests + size + i);
  }
  MPI_Waitall(2 * size, requests, statuses);
  for (int i = 0; i < size; ++i) {
    CHECK(received[i] == i + rank / 1000.0 && statuses[i].MPI_SOURCE == i && requests[i] == MPI_REQUEST_NULL);
  }
  /* In any order, by Waitany; with wildcards, which would take what comes before and after, too. */
  MPI_Barrier(MPI_COMM_WORLD);
  int sum = 0;
  for (int i = 0; i < size; ++i) MPI_Isend(&rank, 1, MPI_INT, i, 10 + rank, MPI_COMM_WORLD, requests + i);
  int *const values = malloc((size_t)size * sizeof *values);
  for (int i = 0; i < size; ++i) MPI_Irecv(values + i, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, requests + size + i);
  for (int i = 0; i < size; ++i) {
    int index;
    MPI_Waitany(size, requests + size, &index, &status);
    CHECK(status.MPI_SOURCE == values[index] && status.MPI_TAG == 10 + values[index]);
    sum += values[index];
  }
  CHECK(sum == size * (size - 1) / 2);
  int index;
  MPI_Waitany(size, requests + size, &index, &status);
  CHECK(index == MPI_UNDEFINED);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Waitall(size, requests, MPI_STATUSES_IGNORE);
  /* Polled. */
  int flag = 0, token = rank;
  MPI_Irecv(values, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, requests);
  MPI_Isend(&token, 1, MPI_INT, next, 1, MPI_COMM_WORLD, requests + 1);
  while (!flag) MPI_Test(requests, &flag, &status);
  CHECK(values[0] == previous && requests[0] == MPI_REQUEST_NULL);
  flag = 0;
  while (!flag) MPI_Testall(2, requests, &flag, statuses);
  /* Looked at before it is received. */
  MPI_Isend(&token, 1, MPI_INT, next, 77, MPI_COMM_WORLD, requests);
  MPI_Probe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &status);
  CHECK(status.MPI_SOURCE == previous);
  MPI_Recv(values, 1, MPI_INT, status.MPI_SOURCE, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Iprobe(MPI_ANY_SOURCE, 78, MPI_COMM_WORLD, &flag, &status);
  CHECK(!flag);
  MPI_Wait(requests, MPI_STATUS_IGNORE);
  /* To nobody. */
  MPI_Send(&token, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Recv(&token, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  int got;
  MPI_Get_count(&status, MPI_INT, &got);
  CHECK(token == rank && got == 0 && status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
  /* Prepared once. */
  MPI_Send_init(&token, 1, MPI_INT, next, 4, MPI_COMM_WORLD, requests);
  MPI_Recv_init(values, 1, MPI_INT, previous, 4, MPI_COMM_WORLD, requests + 1);
  for (token = 0; token < 5; ++token) {
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(values[0] == token);
  }
  MPI_Request_free(requests), MPI_Request_free(requests + 1);
  /* In order, however many are under way; synchronous ones too. */
  for (int i = 0; i < 200; ++i) {
    MPI_Request request;
    values[0] = i;
    (i % 3 == 0 ? MPI_Issend : MPI_Isend)(values, 1, MPI_INT, next, 9, MPI_COMM_WORLD, &request);
    int in;
    MPI_Recv(&in, 1, MPI_INT, previous, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in == i);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  /* Elements that lie apart. */
  MPI_Datatype column;
  MPI_Type_vector(4, 1, 5, MPI_INT, &column);
  MPI_Type_commit(&column);
  int matrix[20], row[4];
  for (int i = 0; i < 20; ++i) matrix[i] = 100 * rank + i;
  MPI_Sendrecv(matrix + 2, 1, column, next, 6, row, 4, MPI_INT, previous, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 4; ++i) CHECK(row[i] == 100 * previous + 2 + 5 * i);
  MPI_Sendrecv(row, 4, MPI_INT, previous, 6, matrix, 1, column, next, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 4; ++i) CHECK(matrix[5 * i] == 100 * rank + 2 + 5 * i && matrix[5 * i + 1] == 100 * rank + 5 * i + 1);
  MPI_Type_free(&column);
  int all_wrong = 0;
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d checks on each of %d ranks, %d wrong\n", checks, size, all_wrong);
  MPI_Finalize();
  free(requests), free(statuses), free(sent), free(received), free(values);
  return wrong != 0;
}
