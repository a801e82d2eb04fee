/* Nonblocking and persistent collectives: each gives the result of the blocking one; many in
   progress at once, completed in another order
   by each rank, mixed with messages. SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kinds = 17, room = 4096, many = 40 };
static int rank, size, wrong;

/* x * 3 + y on pairs of a slope and an offset, as functions that are composed: does not commute. Now and then it sleeps. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type) {
  const unsigned *f = in;
  unsigned *g = inout;
  static int calls;
  (void)type;
  if (++calls % 16 == 0) usleep(1);
  if (calls % 4 == 0) sched_yield();
  for (int i = 0; i < *count; ++i, f += 2, g += 2) {
    const unsigned slope = f[0] * g[0], offset = f[1] * g[0] + g[1];
    g[0] = slope, g[1] = offset;
  }
}
static MPI_Op composed;
static MPI_Datatype pair, gaps;

typedef struct {
  unsigned out[room], in[room];
  int counts[64], places[64], in_counts[64], in_places[64];
  MPI_Datatype types[64];
} Data;

static void fill(Data *data, MPI_Comm comm, int kind, int round) {
  int me, p;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &p);
  for (int i = 0; i < room; ++i) data->out[i] = (unsigned)(me * 131 + i * 7 + kind * 17 + round), data->in[i] = 0xabcdefu + (unsigned)i;
  for (int r = 0; r < p; ++r) {
    data->counts[r] = (me + r + round) % 4, data->in_counts[r] = (me + r + round) % 4;
    data->places[r] = 5 * r, data->in_places[r] = 5 * (p - 1 - r);
    data->types[r] = MPI_UNSIGNED;
  }
}

/* One collective of each kind, in one of three forms; 3: only its counts. */
#define FORMS(NAME, name, ...)                                        \
  if (form == 0) MPI_##NAME(__VA_ARGS__, comm);                       \
  if (form == 1) MPI_I##name(__VA_ARGS__, comm, request);             \
  if (form == 2) MPI_##NAME##_init(__VA_ARGS__, comm, MPI_INFO_NULL, request)
static void start(int kind, int form, int round, Data *d, MPI_Comm comm, MPI_Request *request) {
  int me, p;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &p);
  const int root = round % p, n = 1 + round % 5;
  int *const c = d->counts, *const s = d->places, *const rc = d->in_counts, *const rs = d->in_places;
  for (int r = 0; r < p && (kind == 5 || kind == 6); ++r) c[r] = (r + round) % 4; /* what all know */
  for (int r = 0; r < p && kind == 14; ++r) c[r] = (r + round) % 3;
  switch (kind) {
    case 0:
      if (form == 0) MPI_Barrier(comm);
      if (form == 1) MPI_Ibarrier(comm, request);
      if (form == 2) MPI_Barrier_init(comm, MPI_INFO_NULL, request);
      break;
    case 1: FORMS(Bcast, bcast, me == root ? d->out : d->in, n, MPI_UNSIGNED, root); break;
    case 2: FORMS(Gather, gather, d->out, n, MPI_UNSIGNED, d->in, n, MPI_UNSIGNED, root); break;
    case 3: FORMS(Scatter, scatter, d->out, n, MPI_UNSIGNED, d->in, n, MPI_UNSIGNED, root); break;
    case 4: FORMS(Allgather, allgather, d->out, n, gaps, d->in, n, gaps); break;
    case 5: FORMS(Gatherv, gatherv, d->out, c[me], MPI_UNSIGNED, d->in, c, rs, MPI_UNSIGNED, root); break;
    case 6: FORMS(Allgatherv, allgatherv, d->out, c[me], MPI_UNSIGNED, d->in, c, rs, MPI_UNSIGNED); break;
    case 7: FORMS(Alltoall, alltoall, d->out, n, MPI_UNSIGNED, d->in, n, MPI_UNSIGNED); break;
    case 8: FORMS(Alltoallv, alltoallv, d->out, c, s, MPI_UNSIGNED, d->in, rc, rs, MPI_UNSIGNED); break;
    case 9:
      for (int r = 0; r < p; ++r) s[r] *= 4, rs[r] *= 4;
      FORMS(Alltoallw, alltoallw, d->out, c, s, d->types, d->in, rc, rs, d->types);
      break;
    case 10: FORMS(Reduce, reduce, d->out, d->in, n, pair, composed, root); break;
    case 11: FORMS(Allreduce, allreduce, d->out, d->in, n, MPI_UNSIGNED, MPI_SUM); break;
    case 12: FORMS(Allreduce, allreduce, d->out, d->in, n, pair, composed); break;
    case 13: FORMS(Reduce_scatter_block, reduce_scatter_block, d->out, d->in, n, pair, composed); break;
    case 14: FORMS(Reduce_scatter, reduce_scatter, d->out, d->in, c, MPI_UNSIGNED, MPI_MAX); break;
    case 15: FORMS(Scan, scan, d->out, d->in, n, pair, composed); break;
    case 16: FORMS(Exscan, exscan, d->out, d->in, n, pair, composed); break;
    default: break;
  }
}

static void check(const Data *data, const Data *expected) { wrong += memcmp(data->in, expected->in, sizeof data->in) != 0; }

/* All kinds at once, one after the other matched by their order, and completed in this rank's own order. */
static void all_kinds(MPI_Comm comm, int way, int round) {
  static Data expected[kinds], data[kinds];
  MPI_Request requests[kinds];
  for (int k = 0; k < kinds; ++k) {
    fill(expected + k, comm, k, round);
    fill(data + k, comm, k, round);
    start(k, 0, round, expected + k, comm, NULL);
  }
  const int form = way < 4 ? 1 : 2;
  for (int k = 0; k < kinds; ++k) start(k, form, round, data + k, comm, requests + k);
  for (int again = 0; again < (form == 2 ? 3 : 1); ++again) {
    if (form == 2) {
      if (again == 0) {
        MPI_Startall(kinds, requests);
      } else { /* in an order of its own */
        for (int k = 0; k < kinds; ++k) fill(data + k, comm, k, round);
        for (int k = 0; k < kinds; ++k) start(k, 3, round, data + k, comm, NULL);
        for (int k = 0; k < kinds; ++k) MPI_Start(requests + (k + rank) % kinds);
      }
    }
    int left = kinds, index, flag, done, indices[kinds];
    MPI_Status statuses[kinds];
    switch (way % 4) {
      case 0:
        for (int k = 0; k < kinds; ++k) MPI_Wait(requests + (k + rank) % kinds, statuses);
        break;
      case 1: MPI_Waitall(kinds, requests, again == 0 ? statuses : MPI_STATUSES_IGNORE); break;
      case 2:
        while (left > 0) {
          if (left % 2) {
            MPI_Waitany(kinds, requests, &index, statuses), --left;
          } else {
            MPI_Testsome(kinds, requests, &done, indices, statuses), left -= done;
          }
        }
        break;
      default:
        for (flag = 0; !flag;) MPI_Testall(kinds, requests, &flag, statuses);
        break;
    }
    for (int k = 0; k < kinds; ++k) check(data + k, expected + k);
  }
  for (int k = 0; k < kinds; ++k) {
    if (form == 2) MPI_Request_free(requests + k);
    wrong += requests[k] != MPI_REQUEST_NULL;
  }
}

/* Types, operators and communicators are freed while what uses them is under way. */
static void freed_meanwhile(void) {
  MPI_Comm copy;
  MPI_Datatype type;
  MPI_Op op;
  MPI_Request requests[2];
  unsigned out[24], in[24], all[24 * 64];
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Type_vector(4, 2, 4, MPI_UNSIGNED, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(compose, 0, &op);
  for (int i = 0; i < 24; ++i) out[i] = (unsigned)(rank + i), in[i] = 7;
  for (int i = 0; i < 24 * size; ++i) all[i] = 7;
  MPI_Iallgather(out, 1, type, all, 1, type, copy, requests);
  MPI_Iallreduce(out, in, 1, pair, op, copy, requests + 1);
  MPI_Type_free(&type);
  MPI_Op_free(&op);
  MPI_Comm_free(&copy);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int r = 0; r < size; ++r) {
    for (int i = 0; i < 14; ++i) wrong += all[14 * r + i] != (i % 4 < 2 ? (unsigned)(r + i) : 7);
  }
  unsigned expected[2] = {0, 1};
  for (int r = 1; r < size; ++r) {
    unsigned next[2] = {(unsigned)r, (unsigned)r + 1};
    int one = 1;
    compose(expected, next, &one, NULL);
    memcpy(expected, next, sizeof next);
  }
  wrong += in[0] != expected[0] || in[1] != expected[1];
}

/* What is under way goes on while its rank waits for something else: a message of a rank that waits for it first, a barrier, a probe. */
static void others_meanwhile(void) {
  int sums[many], values[many], token = rank;
  MPI_Request requests[many + 2];
  MPI_Status status;
  for (int i = 0; i < many; ++i) {
    values[i] = rank + i;
    MPI_Iallreduce(values + i, sums + i, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, requests + i);
  }
  const int last = size - 1;
  if (rank == 0 && size > 1) { /* the last rank completes all of them first */
    MPI_Recv(&token, 1, MPI_INT, last, 1, MPI_COMM_WORLD, &status);
    MPI_Probe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
    MPI_Recv(&token, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD, &status);
  }
  if (rank == last && size > 1) {
    MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
    MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Send(&rank, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
  }
  MPI_Irecv(&token, 1, MPI_INT, (rank + last) % size, 9, MPI_COMM_WORLD, requests + many);
  MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 9, MPI_COMM_WORLD, requests + many + 1);
  MPI_Waitall(many + 2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < many; ++i) wrong += sums[i] != size * (size - 1) / 2 + size * i;
  wrong += token != (rank + last) % size;
  MPI_Ibarrier(MPI_COMM_WORLD, requests);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
  MPI_Comm_free(&part);
  int flag = 0;
  while (!flag) MPI_Request_get_status(requests[0], &flag, &status);
  MPI_Wait(requests, &status);
}

/* Long messages, in place. */
static void long_ones(void) {
  enum { count = 100000 };
  unsigned *const data = malloc(count * sizeof *data);
  MPI_Request requests[2];
  unsigned *const other = malloc(count * sizeof *other);
  for (int i = 0; i < count; ++i) data[i] = (unsigned)(rank + i), other[i] = rank == 0 ? (unsigned)i : 0;
  MPI_Iallreduce(MPI_IN_PLACE, data, count, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD, requests);
  MPI_Ibcast(other, count, MPI_UNSIGNED, 0, MPI_COMM_WORLD, requests + 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i) wrong += data[i] != (unsigned)(size * (size - 1) / 2 + size * i) || other[i] != (unsigned)i;
  free(data);
  free(other);
}

static void errors_are_returned(void) {
  int value = 0, error;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Ibcast(&value, 1, MPI_INT, size, MPI_COMM_WORLD, &request), &error);
  wrong += error != MPI_ERR_ROOT || request != MPI_REQUEST_NULL;
  MPI_Error_class(MPI_Bcast_init(&value, -1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request), &error);
  wrong += error != MPI_ERR_COUNT || request != MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Error_class(MPI_Cancel(&request), &error);
  wrong += error != MPI_ERR_REQUEST;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Op_create(compose, 0, &composed);
  MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
  MPI_Type_commit(&pair);
  MPI_Type_vector(2, 1, 3, MPI_UNSIGNED, &gaps);
  MPI_Type_commit(&gaps);
  MPI_Comm parts, reversed;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 3, rank, &parts);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  for (int way = 0; way < 8; ++way) {
    all_kinds(MPI_COMM_WORLD, way, way);
    all_kinds(parts, way, way + 3);
    all_kinds(reversed, way, way + 5);
    all_kinds(MPI_COMM_SELF, way, way);
  }
  freed_meanwhile();
  others_meanwhile();
  long_ones();
  errors_are_returned();
  int all;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all);
  MPI_Type_free(&pair);
  MPI_Type_free(&gaps);
  MPI_Op_free(&composed);
  MPI_Comm_free(&parts);
  MPI_Comm_free(&reversed);
  MPI_Finalize();
  return 0;
}
