/* A send and a receive as one request, with each kind of wait; user-defined error codes.
   SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { many = 4, large = 100000 };
static int rank, size, wrong;
static int out[large], in[large];

static int check(const MPI_Status *status, int from, int tag, int count) {
  int found;
  MPI_Get_count(status, MPI_INT, &found);
  return status->MPI_SOURCE != from || status->MPI_TAG != tag || found != count;
}

static void one_of_each(int count) {
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Request request, all[many];
  MPI_Status status, statuses[many];
  int flag = 0, index, indices[many], got[many], ended;
  for (int i = 0; i < count; ++i) out[i] = rank + i;
  MPI_Isendrecv(out, count, MPI_INT, next, 3, in, count, MPI_INT, before, 3, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  wrong += request != MPI_REQUEST_NULL || check(&status, before, 3, count) || in[count - 1] != before + count - 1;
  MPI_Isendrecv_replace(out, count, MPI_INT, next, 4, before, 4, MPI_COMM_WORLD, &request);
  while (!flag) MPI_Test(&request, &flag, &status);
  wrong += check(&status, before, 4, count) || out[count - 1] != before + count - 1;
  for (int way = 0; way < 6; ++way) {
    for (int i = 0; i < many; ++i) {
      MPI_Isendrecv(out, i == 0 ? count : 1, MPI_INT, next, i, i == 0 ? in : got + i, i == 0 ? count : 1, MPI_INT, before, i, MPI_COMM_WORLD, all + i);
    }
    if (way == 0) {
      MPI_Waitall(many, all, statuses);
      for (int i = 0; i < many; ++i) wrong += check(statuses + i, before, i, i == 0 ? count : 1);
    } else if (way == 1) {
      for (flag = 0; !flag;) MPI_Testall(many, all, &flag, statuses);
      for (int i = 0; i < many; ++i) wrong += check(statuses + i, before, i, i == 0 ? count : 1);
    } else {
      for (int left = many; left > 0;) {
        ended = 1;
        if (way == 2) {
          MPI_Waitany(many, all, &index, statuses), indices[0] = index;
        } else if (way == 3) {
          MPI_Testany(many, all, &index, &ended, statuses), indices[0] = index;
        } else if (way == 4) {
          MPI_Waitsome(many, all, &ended, indices, statuses);
          wrong += ended == 0;
        } else {
          MPI_Testsome(many, all, &ended, indices, statuses);
        }
        for (int k = 0; k < ended; ++k) wrong += check(statuses + k, before, indices[k], indices[k] == 0 ? count : 1);
        left -= ended;
      }
    }
    for (int i = 0; i < many; ++i) wrong += all[i] != MPI_REQUEST_NULL;
    for (int i = 1; i < many; ++i) wrong += got[i] != (rank + 2 * size - 2) % size; /* what was replaced */
  }
  /* Nobody at one end, or both. */
  MPI_Isendrecv(out, 1, MPI_INT, rank == 0 ? MPI_PROC_NULL : rank - 1, 9, in, 1, MPI_INT, rank == size - 1 ? MPI_PROC_NULL : rank + 1, 9,
                MPI_COMM_WORLD, &request);
  do {
    MPI_Request_get_status(request, &flag, &status);
  } while (!flag);
  wrong += status.MPI_SOURCE != (rank == size - 1 ? MPI_PROC_NULL : rank + 1);
  MPI_Wait(&request, &status);
  wrong += status.MPI_SOURCE != (rank == size - 1 ? MPI_PROC_NULL : rank + 1);
  MPI_Isendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 9, in, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  wrong += status.MPI_SOURCE != MPI_PROC_NULL;
  /* Calls that report several statuses write the error of each, of success too; those of one leave it. */
  MPI_Request pair[2];
  MPI_Status pair_statuses[2];
  int places[2];
  for (int way = 0; way < 5; ++way) {
    pair_statuses[0].MPI_ERROR = pair_statuses[1].MPI_ERROR = 77;
    MPI_Irecv(in, 1, MPI_INT, 0, 10, MPI_COMM_SELF, pair);
    MPI_Isend(out, 1, MPI_INT, 0, 10, MPI_COMM_SELF, pair + 1);
    if (way == 0) {
      MPI_Waitall(2, pair, pair_statuses);
    } else if (way == 1) {
      do MPI_Testall(2, pair, &flag, pair_statuses);
      while (!flag);
    } else if (way == 4) {
      MPI_Wait(pair, pair_statuses);
      MPI_Wait(pair + 1, pair_statuses + 1);
    } else {
      for (int left = 2, ended = 0; left > 0; left -= ended) {
        if (way == 2) {
          MPI_Waitsome(2, pair, &ended, places, pair_statuses + 2 - left);
        } else {
          MPI_Testsome(2, pair, &ended, places, pair_statuses + 2 - left);
        }
      }
    }
    for (int i = 0; i < 2; ++i) wrong += pair_statuses[i].MPI_ERROR != (way == 4 ? 77 : MPI_SUCCESS);
  }
  /* A null request has the empty status, without an error. */
  status.MPI_ERROR = 77;
  MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status);
  wrong += !flag || status.MPI_SOURCE != MPI_ANY_SOURCE || status.MPI_TAG != MPI_ANY_TAG || status.MPI_ERROR != MPI_SUCCESS;
}

static int handled;
static void handle(MPI_Comm *on, int *code, ...) {
  (void)on;
  int its_class;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Error_class(*code, &its_class); /* a call within a call */
  MPI_Error_string(*code, text, &its_class);
  handled = *code;
}

static void codes(void) {
  int its_class, code, other, found, length, *last, flag;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Add_error_class(&its_class);
  MPI_Add_error_code(its_class, &code);
  MPI_Add_error_code(MPI_ERR_ARG, &other);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
  wrong += its_class <= MPI_ERR_LASTCODE || !flag || *last != other;
  MPI_Error_string(code, text, &length);
  wrong += length != 0 || text[0] != '\0';
  MPI_Add_error_string(code, "the pump is dry");
  MPI_Error_string(code, text, &length);
  wrong += strcmp(text, "the pump is dry") != 0 || length != 15;
  MPI_Error_class(code, &found);
  wrong += found != its_class;
  MPI_Error_class(its_class, &found);
  wrong += found != its_class;
  MPI_Error_class(other, &found);
  wrong += found != MPI_ERR_ARG;
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(handle, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
  wrong += handled != code;
  wrong += MPI_Add_error_string(MPI_ERR_ARG, "mine") != MPI_ERR_ARG;
  wrong += MPI_Add_error_code(code, &found) != MPI_ERR_ARG; /* a code is no class */
  wrong += MPI_Remove_error_class(its_class) != MPI_ERR_ARG; /* has a code */
  MPI_Remove_error_string(code);
  MPI_Error_string(code, text, &length);
  wrong += length != 0;
  wrong += MPI_Remove_error_code(code) || MPI_Remove_error_class(its_class) || MPI_Remove_error_code(other);
  MPI_Error_class(code, &found);
  wrong += found != MPI_ERR_UNKNOWN;
  MPI_Errhandler_free(&handler);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  one_of_each(1);
  one_of_each(large);
  codes();
  int all;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all);
  MPI_Finalize();
  return wrong != 0;
}
