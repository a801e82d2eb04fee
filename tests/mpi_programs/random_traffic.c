/* Random traffic without deadlocks: random_traffic SEED [EVENTS]. SPDX-License-Identifier: Apache-2.0

   All ranks make the same list of events from the seed: messages, collective calls, accesses to windows. Each rank takes part in those that it
   is named in, in the order of the list; what it has started it completes now and then. So an event waits for earlier ones
   only, with buffers or without, and no rank waits for ever. Of messages of one pair on one communicator both ends follow the
   list, and a receive from any source has a tag of its own: so it is known which message goes where, and every MPI must print
   the same line. What is received is checked besides. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long Number;

static unsigned below(unsigned limit, Number *state) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(*state >> 33) % limit;
}

static int rank, size, wrong;
static Number checksum;
static void add(Number value) { checksum = (checksum ^ value) * 1099511628211ULL; }
static void expect(int right, int event, const char *what) {
  if (!right && wrong++ == 0) printf("rank %d: event %d, %s is wrong\n", rank, event, what);
}

/* Communicators: the world, a copy, the world backwards, two random halves, thirds of every third rank. */
enum { COMMUNICATORS = 5 };
static MPI_Comm on[COMMUNICATORS];
static int part_of[COMMUNICATORS][4096]; /* which part a rank of the world is in */
static int rank_in(int comm, int world) {
  int found = 0;
  for (int r = 0; r < size; ++r) {
    if (part_of[comm][r] == part_of[comm][world]) found += comm == 2 ? r > world : r < world;
  }
  return found;
}

/* Types whose elements hold ints; the extent in ints, and which of them belong to the element. */
enum { TYPES = 6, UNIT = 12 };
static MPI_Datatype types[TYPES];
static const int extents[TYPES] = {1, 4, 12, 7, 8, 5};
static const int ints_in[TYPES] = {1, 4, 4, 3, 4, 2};
static const int where[TYPES][4] = {{0}, {0, 1, 2, 3}, {0, 3, 6, 9}, {5, 1, 2}, {0, 1, 4, 5}, {3, 1}};
static void make_types(void) {
  MPI_Datatype raw;
  types[0] = MPI_INT;
  MPI_Type_contiguous(4, MPI_INT, types + 1);
  MPI_Type_vector(4, 1, 3, MPI_INT, &raw);
  MPI_Type_create_resized(raw, 0, 12 * sizeof(int), types + 2);
  MPI_Type_free(&raw);
  const int lengths[2] = {1, 2}, places[2] = {5, 1};
  MPI_Type_indexed(2, lengths, places, MPI_INT, &raw);
  MPI_Type_create_resized(raw, 0, 7 * sizeof(int), types + 3);
  MPI_Type_free(&raw);
  const int sizes[2] = {2, 4}, parts[2] = {2, 2}, starts[2] = {0, 0};
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, types + 4);
  const int ones[2] = {1, 1};
  const MPI_Aint bytes[2] = {3 * sizeof(int), sizeof(int)};
  const MPI_Datatype both[2] = {MPI_INT, MPI_INT};
  MPI_Type_create_struct(2, ones, bytes, both, &raw);
  MPI_Type_create_resized(raw, 0, 5 * sizeof(int), types + 5);
  MPI_Type_free(&raw);
  for (int i = 1; i < TYPES; ++i) MPI_Type_commit(types + i);
}

enum Kind { message, fan_in, collective, cancelled, access };
enum Send { send, ssend, bsend, isend, issend, ibsend, prepared, ready, SENDS };
enum Receive { recv, irecv, prepared_recv, probe, claim, ask, RECEIVES };
typedef struct {
  enum Kind kind;
  int comm, from, to, tag; /* ranks of the world */
  enum Send send;
  enum Receive receive;
  int any_tag, any_source, to_nobody, room; /* room: ints more than are sent */
  int ints, send_type, receive_type;
  unsigned draw[4];
} Event;

/* Counts of ints that both types divide: UNIT is a multiple of all of them. */
static Event draw_event(int number, Number *plan) {
  static const unsigned counts[] = {0, 1, 1, 1, 2, 2, 5, 30, 100, 2000};
  Event e;
  const unsigned kind = below(100, plan);
  e.kind = kind < 70 ? message : kind < 78 ? fan_in : kind < 93 ? collective : kind < 96 ? cancelled : access;
  e.comm = (int)below(COMMUNICATORS, plan);
  e.from = (int)below((unsigned)size, plan);
  const int first = (int)below((unsigned)size, plan);
  e.to = e.from;
  for (int i = 0; i < size; ++i) { /* one of the same part */
    e.to = (first + i) % size;
    if (part_of[e.comm][e.to] == part_of[e.comm][e.from]) break;
  }
  e.any_source = below(5, plan) == 0;
  e.tag = (int)below(3, plan);
  if (e.any_source) e.tag = 100 + number;
  e.send = (enum Send)below(SENDS, plan);
  e.receive = (enum Receive)below(RECEIVES, plan);
  e.any_tag = !e.any_source && below(5, plan) == 0;
  e.to_nobody = below(30, plan) == 0;
  e.ints = (int)counts[below(10, plan)] * UNIT;
  e.room = below(3, plan) == 0 ? 5 * UNIT : 0;
  e.send_type = (int)below(TYPES, plan);
  e.receive_type = (int)below(TYPES, plan);
  for (int i = 0; i < 4; ++i) e.draw[i] = below(1u << 30, plan);
  return e;
}

static int value_of(int event, int index) { return (int)((unsigned)event * 7919u + (unsigned)index * 31u) & 0x7fffffff; }

/* Memory for this many ints of a type, filled with `none`. */
enum { none = -77 };
static int *memory_for(int type, int ints) {
  const size_t count = (size_t)(ints / ints_in[type]) * (size_t)extents[type];
  int *const memory = malloc((count + 1) * sizeof *memory);
  for (size_t i = 0; i <= count; ++i) memory[i] = none;
  return memory;
}
static int *filled(int type, int ints, int event) {
  int *const memory = memory_for(type, ints);
  for (int i = 0; i < ints; ++i) memory[i / ints_in[type] * extents[type] + where[type][i % ints_in[type]]] = value_of(event, i);
  return memory;
}

/* What has been started. */
typedef struct {
  int event, is_receive, persistent;
  int *memory;
} Started;
static MPI_Request requests[512];
static Started started[512];
static int open_requests;

static void check_received(const Event *e, int event, const int *memory, const MPI_Status *status) {
  int ints;
  MPI_Get_count(status, MPI_INT, &ints);
  expect(ints == e->ints, event, "the count");
  expect(status->MPI_TAG == e->tag && status->MPI_SOURCE == rank_in(e->comm, e->from), event, "the status");
  const int type = e->receive_type, all = (e->ints + e->room) / ints_in[type] * extents[type];
  int found = 0;
  for (int i = 0; i < e->ints; ++i) {
    const int value = memory[i / ints_in[type] * extents[type] + where[type][i % ints_in[type]]];
    found += value == value_of(event, i);
    add((Number)value);
  }
  expect(found == e->ints, event, "a value");
  int untouched = 0;
  for (int i = 0; i < all; ++i) untouched += memory[i] == none;
  expect(untouched == all - e->ints, event, "what lies between");
}

static void ended(const Event *events, int i, const MPI_Status *status) {
  const Started *const s = started + i;
  if (s->is_receive) check_received(events + s->event, s->event, s->memory, status);
  if (s->persistent) MPI_Request_free(requests + i);
  free(s->memory);
}

/* Completes all that was started, in one of several ways. What is checked goes into the sum in the order of the list. */
static void settle(const Event *events, unsigned how) {
  static MPI_Status statuses[512];
  MPI_Status some[512];
  int indices[512], count, flag;
  switch (how) {
    case 0:
      MPI_Waitall(open_requests, requests, statuses);
      break;
    case 1:
      for (int left = open_requests; left > 0; --left) {
        MPI_Waitany(open_requests, requests, &count, some);
        statuses[count] = *some;
      }
      break;
    case 2:
      for (int left = open_requests; left > 0; left -= count) {
        MPI_Waitsome(open_requests, requests, &count, indices, some);
        for (int i = 0; i < count; ++i) statuses[indices[i]] = some[i];
      }
      break;
    case 3:
      for (flag = 0; !flag;) MPI_Testall(open_requests, requests, &flag, statuses);
      break;
    case 4:
      for (int left = open_requests; left > 0;) {
        MPI_Testany(open_requests, requests, &count, &flag, some);
        if (!flag) continue;
        statuses[count] = *some;
        --left;
      }
      break;
    default:
      for (int i = open_requests - 1; i >= 0; --i) MPI_Wait(requests + i, statuses + i);
  }
  for (int i = 0; i < open_requests; ++i) ended(events, i, statuses + i);
  open_requests = 0;
}

static MPI_Request *opened(int event, int is_receive, int persistent, int *memory) {
  const Started s = {event, is_receive, persistent, memory};
  started[open_requests] = s;
  return requests + open_requests++;
}

static void start_send(const Event *e, int event) {
  const MPI_Comm comm = on[e->comm];
  const int to = e->to_nobody ? MPI_PROC_NULL : rank_in(e->comm, e->to), count = e->ints / ints_in[e->send_type];
  const MPI_Datatype type = types[e->send_type];
  int *const memory = filled(e->send_type, e->ints, event);
  switch (e->send) {
    case send:
      MPI_Send(memory, count, type, to, e->tag, comm);
      break;
    case ssend:
      MPI_Ssend(memory, count, type, to, e->tag, comm);
      break;
    case bsend:
      MPI_Bsend(memory, count, type, to, e->tag, comm);
      break;
    case isend:
      MPI_Isend(memory, count, type, to, e->tag, comm, opened(event, 0, 0, memory));
      return;
    case issend:
      MPI_Issend(memory, count, type, to, e->tag, comm, opened(event, 0, 0, memory));
      return;
    case ibsend:
      MPI_Ibsend(memory, count, type, to, e->tag, comm, opened(event, 0, 0, memory));
      return;
    case prepared: {
      MPI_Request *const request = opened(event, 0, 1, memory);
      MPI_Send_init(memory, count, type, to, e->tag, comm, request);
      MPI_Start(request);
      return;
    }
    default: /* the receive is there: it says so */
      MPI_Recv(NULL, 0, MPI_INT, rank_in(e->comm, e->to), 99, comm, MPI_STATUS_IGNORE);
      MPI_Rsend(memory, count, type, to, e->tag, comm);
  }
  free(memory);
}

static void receive(const Event *e, int event) {
  const MPI_Comm comm = on[e->comm];
  const int from = e->any_source ? MPI_ANY_SOURCE : rank_in(e->comm, e->from), tag = e->any_tag ? MPI_ANY_TAG : e->tag;
  const int count = (e->ints + e->room) / ints_in[e->receive_type];
  const MPI_Datatype type = types[e->receive_type];
  int *const memory = memory_for(e->receive_type, e->ints + e->room);
  MPI_Status status;
  MPI_Message claimed;
  int flag = 0;
  const int starts = e->send == ready || e->from == e->to || e->receive == irecv;
  if (starts) {
    MPI_Irecv(memory, count, type, from, tag, comm, opened(event, 1, 0, memory));
    if (e->send == ready) MPI_Send(NULL, 0, MPI_INT, rank_in(e->comm, e->from), 99, comm);
    return;
  }
  switch (e->receive) {
    case prepared_recv: {
      MPI_Request *const request = opened(event, 1, 1, memory);
      MPI_Recv_init(memory, count, type, from, tag, comm, request);
      MPI_Start(request);
      return;
    }
    case probe:
      MPI_Probe(from, tag, comm, &status);
      MPI_Recv(memory, count, type, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
      break;
    case claim:
      MPI_Mprobe(from, tag, comm, &claimed, &status);
      MPI_Mrecv(memory, count, type, &claimed, &status);
      break;
    case ask:
      while (!flag) MPI_Iprobe(from, tag, comm, &flag, &status);
      MPI_Recv(memory, count, type, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
      break;
    default:
      MPI_Recv(memory, count, type, from, tag, comm, &status);
  }
  check_received(e, event, memory, &status);
  free(memory);
}

/* All others of a part send to one rank, several times each: it takes them from any source, each source's in order. */
static void gather_from_any(const Event *e, int event) {
  const MPI_Comm comm = on[e->comm];
  const int me = rank_in(e->comm, rank), to = rank_in(e->comm, e->to), turns = 1 + (int)(e->draw[0] % 3);
  int members;
  MPI_Comm_size(comm, &members);
  if (part_of[e->comm][rank] != part_of[e->comm][e->to]) return;
  if (me != to) {
    for (int turn = 0; turn < turns; ++turn) {
      const int data[2] = {turn, me};
      (e->draw[1] % 2 == 0 ? MPI_Send : MPI_Ssend)(data, 2, MPI_INT, to, 200000 + event, comm);
    }
    return;
  }
  int *const next = calloc((size_t)members, sizeof *next);
  for (int i = 0; i < turns * (members - 1); ++i) {
    int data[2];
    MPI_Status status;
    MPI_Recv(data, 2, MPI_INT, MPI_ANY_SOURCE, 200000 + event, comm, &status);
    expect(data[1] == status.MPI_SOURCE && data[0] == next[data[1]]++, event, "the order of a source");
  }
  for (int i = 0; i < members; ++i) add((Number)next[i]);
  free(next);
}

/* Joins maps x -> a x + b, modulo 2^32: associative, not commutative. */
static void join_maps(void *left, void *both, int *length, MPI_Datatype *type) {
  const unsigned *const l = left;
  unsigned *const r = both;
  (void)type;
  for (int i = 0; i < *length; ++i) {
    r[2 * i + 1] = l[2 * i + 1] * r[2 * i] + r[2 * i + 1];
    r[2 * i] *= l[2 * i];
  }
}
static MPI_Op maps;
static MPI_Datatype map;

static void call_collective(const Event *e, int event) {
  const MPI_Comm comm = on[e->comm];
  int me, members;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &members);
  static const int counts[] = {0, 1, 2, 3, 16, 1000};
  const MPI_Op op = e->draw[2] % 4 == 0 ? MPI_SUM : e->draw[2] % 4 == 1 ? MPI_MAX : e->draw[2] % 4 == 2 ? MPI_BXOR : maps;
  const MPI_Datatype type = op == maps ? map : MPI_UNSIGNED;
  const int root = (int)(e->draw[0] % (unsigned)members), m = counts[e->draw[1] % 6], unit = op == maps ? 2 : 1;
  const size_t most = (size_t)(members + 1) * (size_t)(m + members) * 2 + 2;
  unsigned *const out = malloc(most * sizeof *out), *const in = malloc(most * sizeof *in);
  int *const numbers = malloc(4 * (size_t)members * sizeof *numbers);
  int *const sent = numbers, *const sent_at = sent + members, *const came = sent_at + members, *const came_at = came + members;
  for (size_t i = 0; i < most; ++i) {
    out[i] = (unsigned)value_of(event + me * 1000, (int)i);
    in[i] = 7;
  }
  /* Both ends know: rank r sends (m + r + q) % members to q. */
  for (int q = 0, at = 0, at_in = 0; q < members; at += sent[q], at_in += came[q], ++q) {
    sent[q] = m == 0 ? 0 : (m + me + q) % members;
    came[q] = m == 0 ? 0 : (m + q + me) % members;
    sent_at[q] = at;
    came_at[q] = at_in;
  }
  switch (e->draw[3] % 15) {
    case 0:
      MPI_Barrier(comm);
      break;
    case 1:
      for (int i = 0; i < m && me == root; ++i) in[i] = out[i];
      MPI_Bcast(in, m, MPI_UNSIGNED, root, comm);
      break;
    case 2:
      MPI_Reduce(out, in, m, type, op, root, comm);
      break;
    case 3:
      MPI_Allreduce(out, in, m, type, op, comm);
      break;
    case 4:
      for (int i = 0; i < unit * m; ++i) in[i] = out[i];
      MPI_Allreduce(MPI_IN_PLACE, in, m, type, op, comm);
      break;
    case 5:
      MPI_Gather(out, m, MPI_UNSIGNED, in, m, MPI_UNSIGNED, root, comm);
      break;
    case 6:
      MPI_Scatter(out, m, MPI_UNSIGNED, in, m, MPI_UNSIGNED, root, comm);
      break;
    case 7:
      MPI_Allgather(out, m, MPI_UNSIGNED, in, m, MPI_UNSIGNED, comm);
      break;
    case 8:
      MPI_Alltoall(out, m, MPI_UNSIGNED, in, m, MPI_UNSIGNED, comm);
      break;
    case 9:
      MPI_Alltoallv(out, sent, sent_at, MPI_UNSIGNED, in, came, came_at, MPI_UNSIGNED, comm);
      break;
    case 10:
      for (int q = 0, at = 0; q < members; at += came[q], ++q) {
        came[q] = m == 0 ? 0 : (m + q) % 4;
        came_at[q] = at;
      }
      MPI_Allgatherv(out, came[me], MPI_UNSIGNED, in, came, came_at, MPI_UNSIGNED, comm);
      break;
    case 11:
      MPI_Scan(out, in, m, type, op, comm);
      break;
    case 12:
      MPI_Exscan(out, in, m, type, op, comm);
      for (int i = 0; me == 0 && i < unit * m; ++i) in[i] = 7;
      break;
    case 13:
      MPI_Reduce_scatter_block(out, in, m, type, op, comm);
      break;
    default:
      for (int q = 0, at = 0; q < members; at += came[q], ++q) {
        came[q] = m == 0 ? 0 : (m + 2 * q) % 5;
        came_at[q] = at;
      }
      MPI_Gatherv(out, came[me], MPI_UNSIGNED, in, came, came_at, MPI_UNSIGNED, root, comm);
  }
  for (size_t i = 0; i < most; ++i) add(in[i]);
  free(out), free(in), free(numbers);
}

/* Each rank writes to places of its own in others' memory, and adds to those that all add to; then all look at what they have. */
enum { PLACES = 4, SUMS = 8 };
static MPI_Win window;
static int *exposed; /* SUMS, then PLACES of each rank */
static void access_windows(const Event *e, int event) {
  Number draw = (Number)e->draw[0] * 4099 + (Number)rank;
  const int locks = e->draw[1] % 2 == 0;
  if (!locks) MPI_Win_fence(0, window);
  for (unsigned access = below(5, &draw); access > 0; --access) {
    const int target = (int)below((unsigned)size, &draw), values[2] = {value_of(event, rank), value_of(event, rank + 7)};
    const int place = (int)access - 1, sum = (int)below(SUMS - 1, &draw);
    if (locks) MPI_Win_lock(below(2, &draw) == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, window);
    if (below(2, &draw) == 0) {
      MPI_Accumulate(values, 2, MPI_INT, target, sum, 2, MPI_INT, MPI_BXOR, window);
    } else {
      MPI_Put(values, 1, MPI_INT, target, SUMS + rank * PLACES + place, 1, MPI_INT, window);
    }
    if (locks) MPI_Win_unlock(target, window);
  }
  locks ? MPI_Barrier(MPI_COMM_WORLD) : MPI_Win_fence(0, window);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  for (int i = 0; i < SUMS + size * PLACES; ++i) add((Number)exposed[i]);
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD); /* others go on when it is looked at */
}

static void cancel_receive(int event) {
  int value, flag;
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 400000 + event, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  expect(flag, event, "that it was cancelled");
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const Number seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const int count = argc > 2 ? atoi(argv[2]) : 200;
  Number plan = seed * 1000003 + 17, own = seed * 31 + (Number)rank;
  for (int r = 0; r < size; ++r) {
    part_of[3][r] = (int)below(2, &plan);
    part_of[4][r] = r % 3;
  }
  on[0] = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, on + 1);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, on + 2);
  for (int c = 3; c < COMMUNICATORS; ++c) MPI_Comm_split(MPI_COMM_WORLD, part_of[c][rank], rank, on + c);
  make_types();
  MPI_Type_contiguous(2, MPI_UNSIGNED, &map);
  MPI_Type_commit(&map);
  MPI_Op_create(join_maps, 0, &maps);
  MPI_Win_allocate((SUMS + size * PLACES) * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &exposed, &window);
  for (int i = 0; i < SUMS + size * PLACES; ++i) exposed[i] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const int lent = 1 << 22;
  void *const buffer = malloc((size_t)lent);
  MPI_Buffer_attach(buffer, lent);
  Event *const events = malloc((size_t)count * sizeof *events);
  for (int i = 0; i < count; ++i) {
    Event *const e = events + i;
    *e = draw_event(i, &plan);
    if (e->send == ready) e->any_tag = 0;             /* or it might take the word that it is there */
    if (e->from == e->to && e->send < bsend) e->send = isend; /* to oneself: nobody else receives */
    if ((e->send == bsend || e->send == ibsend) && e->ints > 30 * UNIT) e->ints = 30 * UNIT;
    if (e->send == ready && (e->from == e->to || e->to_nobody)) e->send = isend;
    if (e->send == prepared && e->to_nobody) e->send = isend; /* MPICH 4.0 takes a started one for inactive */
  }
  int bytes_lent = 0;
  for (int i = 0; i < count; ++i) {
    const Event *const e = events + i;
    if (open_requests > 0 && (open_requests > 500 || below(6, &own) == 0)) settle(events, below(6, &own));
    if (e->kind == fan_in) gather_from_any(e, i);
    if (e->kind == collective) call_collective(e, i);
    if (e->kind == cancelled) cancel_receive(i);
    if (e->kind == access) access_windows(e, i);
    if (e->kind != message) continue;
    if (e->to == rank && !e->to_nobody) receive(e, i);
    if (e->from == rank) {
      if (e->send == bsend || e->send == ibsend) {
        bytes_lent += e->ints * (int)sizeof(int) + MPI_BSEND_OVERHEAD + 64;
        if (bytes_lent > lent / 2) { /* waits until all have gone */
          void *same;
          int same_bytes;
          MPI_Buffer_detach(&same, &same_bytes);
          MPI_Buffer_attach(buffer, lent);
          bytes_lent = 0;
        }
      }
      start_send(e, i);
    }
  }
  settle(events, 0);
  void *same;
  int same_bytes;
  MPI_Buffer_detach(&same, &same_bytes);
  free(buffer), free(events);
  MPI_Win_free(&window);
  for (int c = 1; c < COMMUNICATORS; ++c) MPI_Comm_free(on + c);
  for (int i = 1; i < TYPES; ++i) MPI_Type_free(types + i);
  MPI_Type_free(&map);
  MPI_Op_free(&maps);
  Number sum;
  int all_wrong;
  MPI_Reduce(&checksum, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_BXOR, 0, MPI_COMM_WORLD);
  MPI_Reduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("seed %llu: %d events, sum %016llx, %d wrong\n", seed, count, sum, all_wrong);
  MPI_Finalize();
  return wrong != 0;
}
