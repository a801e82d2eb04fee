/* Collectives whose messages are drawn at random from SEED in the environment: right ones, and such that one part of them is
   wrong, of the kind in WRONG: `open` (a request is not complete at the end), `world` (MPI_COMM_WORLD in place of the
   communicator), `types` (the other side's datatype). SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
#include "local_data.h"

static int rank, ranks;
static unsigned seed;
static const char *wrong;

static void begin(MPI_Comm comm) {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  seed = (unsigned)atoi(getenv("SEED"));
  wrong = getenv("WRONG");
  if (wrong == NULL) wrong = "";
}
static int is_wrong(const char *kind) {
  return strcmp(wrong, kind) == 0;
}

/* The same numbers on all ranks. */
static unsigned number(unsigned a, unsigned b, unsigned below) {
  unsigned x = 0;
  const unsigned from[] = {seed, a, b, 0};
  for (int i = 0; i < 4; ++i) {
    x = (x + from[i] + 1) * 2654435761u;
    x = (x ^ x >> 15) * 2246822519u;
    x ^= x >> 13;
  }
  return x % below;
}

enum { most_open = 64 };
static MPI_Request open_requests[most_open];
static int opened;

/* One end of message `edge`, in some way; all are complete after end(). */
static void transfer(int sends, void *data, int count, MPI_Datatype type, int peer, int edge, int is_wrong_edge, MPI_Comm comm) {
  const int tag = (int)number(3, (unsigned)edge, 4);
  const int leaves_open = is_wrong_edge && is_wrong("open") && sends == (int)number(4, 0, 2);
  const int way = leaves_open ? 1 + (int)number(5, (unsigned)edge, 3) : (int)number(sends ? 6 : 7, (unsigned)edge, 7);
  MPI_Request request = MPI_REQUEST_NULL;
  int done = 0;
  if (is_wrong_edge && is_wrong("world")) comm = MPI_COMM_WORLD;
  switch (way) {
    case 0: /* blocking */
      if (sends) MPI_Send(data, count, type, peer, tag, comm);
      else MPI_Recv(data, count, type, peer, tag, comm, MPI_STATUS_IGNORE);
      return;
    case 1: /* persistent */
      if (sends) MPI_Send_init(data, count, type, peer, tag, comm, &request);
      else MPI_Recv_init(data, count, type, peer, tag, comm, &request);
      MPI_Start(&request);
      if (leaves_open) return;
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Request_free(&request);
      return;
    case 2:
      if (sends) MPI_Issend(data, count, type, peer, tag, comm, &request);
      else MPI_Irecv(data, count, type, peer, tag, comm, &request);
      break;
    default:
      if (sends) MPI_Isend(data, count, type, peer, tag, comm, &request);
      else MPI_Irecv(data, count, type, peer, tag, comm, &request);
  }
  if (leaves_open) return;
  if (way == 4) { /* polls */
    while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  } else if (way == 5) { /* asks, then frees */
    while (!done) MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
  } else if (way == 6 || !sends || opened == most_open) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else { /* with the others, at the end */
    open_requests[opened++] = request;
  }
}
static int end(void) {
  MPI_Waitall(opened, open_requests, MPI_STATUSES_IGNORE);
  opened = 0;
  return MPI_SUCCESS;
}

/* Along a random tree: each place but the root's has a lower one above it. The wrong edge is that of the last place. */
int random_broadcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  begin(comm);
  if (is_wrong("world") && number(8, 0, 3) == 0) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (is_wrong("world") && number(8, 0, 3) == 1) MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int place = (rank - root + ranks) % ranks;
  for (int below = 1; below < ranks; ++below) {
    const int above = (int)number(1, (unsigned)below, (unsigned)below);
    const int is_last = below == ranks - 1;
    if (place == above) transfer(1, buffer, count, type, (below + root) % ranks, below, is_last, comm);
    if (place == below) transfer(0, buffer, count, type, (above + root) % ranks, below, is_last, comm);
  }
  return end();
}

/* From each rank to the root, or from the root to each rank. */
int random_gather(const void *send, int count, MPI_Datatype type, void *receive, int each, MPI_Datatype its_type, int root,
                  MPI_Comm comm) {
  begin(comm);
  const int both = is_wrong("types") ? (int)number(9, 0, 2) : 2; /* wrong: where both types are at hand */
  if (rank != root) {
    if (both == 1) transfer(1, (void *)send, each, its_type, root, rank, 0, comm);
    else transfer(1, (void *)send, count, type, root, rank, rank == (root + 1) % ranks, comm);
    return end();
  }
  for (int i = 0; i < ranks; ++i) {
    const int from = (int)((unsigned)i + number(2, 0, (unsigned)ranks)) % ranks;
    char *const place = at(receive, from * each, its_type);
    if (from != root) transfer(0, place, each, its_type, from, from, from == (root + 1) % ranks, comm);
    else if (send == MPI_IN_PLACE) continue;
    else if (both == 0) copy_across(send, each, its_type, place, each, its_type);
    else copy_across(send, count, type, place, each, its_type);
  }
  return end();
}
int random_scatter(const void *send, int each, MPI_Datatype its_type, void *receive, int count, MPI_Datatype type, int root,
                   MPI_Comm comm) {
  begin(comm);
  const int both = is_wrong("types") ? (int)number(9, 0, 2) : 2;
  if (rank != root) {
    if (both == 1) transfer(0, receive, each, its_type, root, rank, 0, comm);
    else transfer(0, receive, count, type, root, rank, rank == (root + 1) % ranks, comm);
    return end();
  }
  for (int i = 0; i < ranks; ++i) {
    const int to = (int)((unsigned)i + number(2, 0, (unsigned)ranks)) % ranks;
    char *const place = at(send, to * each, its_type);
    if (to != root) transfer(1, place, each, its_type, to, to, to == (root + 1) % ranks, comm);
    else if (receive == MPI_IN_PLACE) continue;
    else if (both == 0) copy_across(place, each, its_type, receive, each, its_type);
    else copy_across(place, each, its_type, receive, count, type);
  }
  return end();
}

/* Every rank broadcasts its block along a random tree, one after the other. */
int random_allgather(const void *send, int count, MPI_Datatype type, void *receive, int each, MPI_Datatype its_type, MPI_Comm comm) {
  begin(comm);
  if (send != MPI_IN_PLACE) {
    char *const place = at(receive, rank * each, its_type);
    if (!is_wrong("types")) copy_across(send, count, type, place, each, its_type);
    else if (number(9, 0, 2) == 0) copy_across(send, each, its_type, place, each, its_type);
    else copy_across(send, count, type, place, count, type);
  }
  for (int root = 0; root < ranks; ++root) {
    const int place = (rank - root + ranks) % ranks;
    char *const block = at(receive, root * each, its_type);
    for (int below = 1; below < ranks; ++below) {
      const unsigned edge = (unsigned)(root * ranks + below);
      const int above = (int)number(1, edge, (unsigned)below), is_last = root == 0 && below == ranks - 1;
      if (place == above) transfer(1, block, each, its_type, (below + root) % ranks, (int)edge, is_last, comm);
      if (place == below) transfer(0, block, each, its_type, (above + root) % ranks, (int)edge, is_last, comm);
    }
  }
  return end();
}

/* Pairs of ranks exchange, in the order of their sum; the lower one sends first. */
int random_alltoall(const void *send, int count, MPI_Datatype type, void *receive, int each, MPI_Datatype its_type, MPI_Comm comm) {
  begin(comm);
  void *own = NULL;
  const int wrong_types = is_wrong("types") ? (int)number(9, 0, 2) : 2;
  if (send == MPI_IN_PLACE) {
    own = room_for(each * ranks, its_type);
    copy(receive, own, each * ranks, its_type);
    send = own, count = each, type = its_type;
  }
  for (int sum = 0; sum < 2 * ranks - 1; ++sum) {
    const int peer = sum - rank;
    if (peer < 0 || peer >= ranks) continue;
    void *const out = at(send, peer * count, type), *const in = at(receive, peer * each, its_type);
    const int is_first = sum == 1;
    if (peer == rank) {
      if (wrong_types == 0) copy_across(out, each, its_type, in, each, its_type);
      else copy_across(out, count, type, in, each, its_type);
    }
    for (int turn = 0; peer != rank && turn < 2; ++turn) {
      const int sends = (turn == 0) == (rank < peer), edge = sends ? rank * ranks + peer : peer * ranks + rank;
      if (!sends) transfer(0, in, each, its_type, peer, edge, is_first && turn == 0, comm);
      else if (wrong_types == 1) transfer(1, out, each, its_type, peer, edge, 0, comm);
      else transfer(1, out, count, type, peer, edge, is_first && turn == 0, comm);
    }
  }
  end();
  if (own != NULL) drop(own, type);
  return MPI_SUCCESS;
}

/* The elements of all ranks go to rank 0 in order, and back along a random tree. */
int random_allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  begin(comm);
  if (send != MPI_IN_PLACE) copy_across(send, count, type, receive, count, type);
  void *const other = room_for(count, type);
  for (int last = ranks - 1; last > 0; --last) { /* rank `last` gives all from itself on to the one below */
    if (rank == last) transfer(1, receive, count, type, last - 1, last, 0, comm);
    if (rank != last - 1) continue;
    transfer(0, other, count, type, last, last, 0, comm);
    MPI_Reduce_local(receive, other, count, type, op);
    copy_across(other, count, type, receive, count, type);
  }
  end();
  drop(other, type);
  for (int below = 1; below < ranks; ++below) {
    const int above = (int)number(1, (unsigned)below, (unsigned)below), is_last = below == ranks - 1;
    if (rank == above) transfer(1, receive, count, type, below, ranks + below, is_last, comm);
    if (rank == below) transfer(0, receive, count, type, above, ranks + below, is_last, comm);
  }
  return end();
}
