/* The other operations, each as plain as it can be. Those of reductions keep the order of ranks.
   SPDX-License-Identifier: Apache-2.0 */
#include "local_data.h"

static int rank, ranks;
static void ask(MPI_Comm comm) {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
}

/* By a binomial tree of distances from the root. */
int tree_broadcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  ask(comm);
  const int own = MUTANT == 1 ? rank : (rank - root + ranks) % ranks; /* mutant: root 0 whatever is asked */
  int mask = 1;
  while (mask < ranks && !(own & mask)) mask *= 2;
  const int begin = MUTANT == 1 ? 0 : root;
  if (own > 0) MPI_Recv(buffer, count, type, (own - mask + begin) % ranks, 5, comm, MPI_STATUS_IGNORE);
  for (mask /= 2; mask > 0; mask /= 2) {
    if (own + mask < ranks) MPI_Send(buffer, count, type, (own + mask + begin) % ranks, 5, comm);
  }
  return MPI_SUCCESS;
}

/* By a binomial tree to rank 0, and from there to the root. */
int tree_reduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  ask(comm);
  void *own = room_for(count, type), *other = room_for(count, type);
  copy(send == MPI_IN_PLACE ? receive : send, own, count, type);
  for (int mask = 1; mask < ranks; mask *= 2) {
    if (rank & mask) {
      MPI_Send(own, count, type, rank - mask, 1, comm);
      break;
    }
    if (rank + mask >= ranks) continue;
    MPI_Recv(other, count, type, rank + mask, 1, comm, MPI_STATUS_IGNORE);
    MPI_Reduce_local(own, other, count, type, op);
    copy(other, own, count, type);
  }
  if (rank == 0 && root != 0) MPI_Send(own, count, type, root, 2, comm);
  if (rank == root && root != 0) MPI_Recv(own, count, type, 0, 2, comm, MPI_STATUS_IGNORE);
  if (rank == root || MUTANT == 1) copy(own, receive, count, type); /* mutant: at all ranks */
  drop(own, type);
  drop(other, type);
  return MPI_SUCCESS;
}

int linear_gather(const void *send, int count, MPI_Datatype type, void *receive, int each, MPI_Datatype its_type, int root,
                  MPI_Comm comm) {
  ask(comm);
  if (rank != root) return MPI_Send(send, count, type, root, 1, comm);
  for (int from = 0; from < ranks; ++from) {
    char *const place = at(receive, from * each, its_type);
    if (from != root) {
      MPI_Recv(place, each, its_type, MUTANT == 1 ? MPI_ANY_SOURCE : from, 1, comm, MPI_STATUS_IGNORE); /* mutant: in any order */
    } else if (send != MPI_IN_PLACE) {
      copy_across(send, count, type, place, each, its_type);
    }
  }
  return MPI_SUCCESS;
}

int linear_scatter(const void *send, int each, MPI_Datatype its_type, void *receive, int count, MPI_Datatype type, int root,
                   MPI_Comm comm) {
  ask(comm);
  if (rank != root) return MPI_Recv(receive, count, type, root, 1, comm, MPI_STATUS_IGNORE);
  for (int to = 0; to < ranks; ++to) {
    const int block = MUTANT == 1 && to > 0 ? to - 1 : to; /* mutant: its neighbour's */
    if (to != root) {
      MPI_Send(at(send, block * each, its_type), each, its_type, to, 1, comm);
    } else if (receive != MPI_IN_PLACE) {
      copy_across(at(send, to * each, its_type), each, its_type, receive, count, type);
    }
  }
  return MPI_SUCCESS;
}

int ring_allgather(const void *send, int count, MPI_Datatype type, void *receive, int each, MPI_Datatype its_type, MPI_Comm comm) {
  ask(comm);
  if (send != MPI_IN_PLACE) copy_across(send, count, type, at(receive, rank * each, its_type), each, its_type);
  for (int step = 0; step < ranks - 1 - (MUTANT == 1 && ranks > 2); ++step) { /* mutant: a step less */
    const int newest = (rank - step + ranks) % ranks, coming = (newest - 1 + ranks) % ranks;
    MPI_Sendrecv(at(receive, newest * each, its_type), each, its_type, (rank + 1) % ranks, 1, at(receive, coming * each, its_type),
                 each, its_type, (rank - 1 + ranks) % ranks, 1, comm, MPI_STATUS_IGNORE);
  }
  return MPI_SUCCESS;
}

int shift_alltoall(const void *send, int count, MPI_Datatype type, void *receive, int each, MPI_Datatype its_type, MPI_Comm comm) {
  ask(comm);
  if (send == MPI_IN_PLACE) count = each, type = its_type;
  void *own = room_for(count * ranks, type);
  copy(send == MPI_IN_PLACE ? receive : send, own, count * ranks, type);
  copy_across(at(own, rank * count, type), count, type, at(receive, rank * each, its_type), each, its_type);
  for (int step = 1; step < ranks; ++step) {
    const int to = (rank + step) % ranks, from = (rank - step + ranks) % ranks;
    MPI_Sendrecv(at(own, (MUTANT == 1 ? from : to) * count, type), count, type, to, step, at(receive, from * each, its_type),
                 each, its_type, from, step, comm, MPI_STATUS_IGNORE);
  }
  drop(own, type);
  return MPI_SUCCESS;
}

/* Each rank's block is combined along the line of ranks, by whoever has the lower ones. */
int linear_scan(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ask(comm);
  if (send != MPI_IN_PLACE) copy(send, receive, count, type);
  if (rank > 0) {
    void *lower = room_for(count, type);
    MPI_Recv(lower, count, type, rank - 1, 1, comm, MPI_STATUS_IGNORE);
    const int many = MUTANT == 1 && count > ranks ? count - 1 : count; /* mutant: all but the last */
    MPI_Reduce_local(lower, receive, many, type, op);
    drop(lower, type);
  }
  if (rank < ranks - 1) MPI_Send(receive, count, type, rank + 1, 1, comm);
  return MPI_SUCCESS;
}

int linear_exscan(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ask(comm);
  void *sum = room_for(count, type);
  copy(send == MPI_IN_PLACE ? receive : send, sum, count, type);
  if (rank > 0) {
    MPI_Recv(receive, count, type, rank - 1, 1, comm, MPI_STATUS_IGNORE);
    MPI_Reduce_local(receive, sum, count, type, op);
  }
  if (rank < ranks - 1) MPI_Send(sum, count, type, rank + 1, 1, comm);
  if (MUTANT == 1 && rank > 0) copy(sum, receive, count, type); /* its own is in it */
  drop(sum, type);
  return MPI_SUCCESS;
}

/* Every block goes to its rank, from the lowest rank to the highest. */
int direct_reduce_scatter(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ask(comm);
  void *own = room_for(count * ranks, type), *others = room_for(count * ranks, type);
  copy(send == MPI_IN_PLACE ? receive : send, own, count * ranks, type);
  for (int step = 0; step < ranks; ++step) {
    const int to = (rank + step) % ranks, from = (rank - step + ranks) % ranks;
    if (step == 0) {
      copy(at(own, rank * count, type), at(others, rank * count, type), count, type);
    } else {
      MPI_Sendrecv(at(own, to * count, type), count, type, to, 1, at(others, from * count, type), count, type, from, 1, comm,
                   MPI_STATUS_IGNORE);
    }
  }
  for (int i = 1; i < ranks; ++i) MPI_Reduce_local(at(others, (i - 1) * count, type), at(others, i * count, type), count, type, op);
  copy(at(others, (ranks - 1 - (MUTANT == 1 && rank == 0 && ranks > 1)) * count, type), receive, count, type); /* mutant: without the last rank's */
  drop(own, type);
  drop(others, type);
  return MPI_SUCCESS;
}

/* Calls that cannot be right. */
int half_elements(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  ask(comm);
  (void)type;
  const int bytes = count > 0 ? 8 * count - 4 : 0; /* 4 bytes of the last one are missing */
  if (rank != root) return MPI_Recv(buffer, bytes, MPI_BYTE, root, 0, comm, MPI_STATUS_IGNORE);
  for (int to = 0; to < ranks; ++to) {
    if (to != root) MPI_Send(buffer, bytes, MPI_BYTE, to, 0, comm);
  }
  return MPI_SUCCESS;
}
int sum_of_bits(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  (void)type, (void)op, (void)comm;
  const long *const from = send == MPI_IN_PLACE ? receive : send;
  for (int i = 0; i < count; ++i) ((long *)receive)[i] = from[i] + from[i];
  return MPI_SUCCESS;
}
int crash(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  ask(comm);
  (void)buffer, (void)count, (void)type;
  if (rank == 1) *(volatile int *)(long)root = 1;
  return MPI_SUCCESS;
}
int poll_for_ever(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  int arrived = 0;
  (void)buffer, (void)count, (void)type;
  while (!arrived) MPI_Iprobe(root, 7, comm, &arrived, MPI_STATUS_IGNORE);
  return MPI_SUCCESS;
}
int passes_on(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return PMPI_Bcast(buffer, count, type, root, comm);
}
int leaves_a_message(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  MPI_Request request;
  ask(comm);
  tree_broadcast(buffer, count, type, root, comm);
  if (rank == 1) {
    MPI_Isend(buffer, count, type, 0, 8, comm, &request);
    MPI_Request_free(&request);
  }
  return MPI_SUCCESS;
}

/* Receives in any order: by its source (right), or as if each rank's message came after that of the rank before
   (mutant). Messages start in that order, which no rule of MPI keeps. */
int chained_gather(const void *send, int count, MPI_Datatype type, void *receive, int each, MPI_Datatype its_type, int root,
                   MPI_Comm comm) {
  MPI_Request request;
  MPI_Status status;
  ask(comm);
  const int own = (rank - root + ranks) % ranks; /* 1, 2, .. are the senders */
  if (own > 0) {
    if (own > 1) MPI_Recv(NULL, 0, MPI_BYTE, (rank - 1 + ranks) % ranks, 2, comm, MPI_STATUS_IGNORE);
    MPI_Isend(send, count, type, root, 1, comm, &request);
    if (own < ranks - 1) MPI_Send(NULL, 0, MPI_BYTE, (rank + 1) % ranks, 2, comm);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (send != MPI_IN_PLACE) copy_across(send, count, type, at(receive, root * each, its_type), each, its_type);
  for (int i = 1; i < ranks; ++i) {
    MPI_Probe(MPI_ANY_SOURCE, 1, comm, &status);
    const int from = status.MPI_SOURCE, place = MUTANT == 1 ? (root + i) % ranks : from;
    MPI_Recv(at(receive, place * each, its_type), each, its_type, from, 1, comm, MPI_STATUS_IGNORE);
  }
  return MPI_SUCCESS;
}

int dissemination_barrier(MPI_Comm comm) {
  ask(comm);
  for (int mask = 1; mask < ranks; mask *= MUTANT == 1 ? 4 : 2) { /* mutant: too few rounds */
    MPI_Sendrecv(NULL, 0, MPI_BYTE, (rank + mask) % ranks, 1, NULL, 0, MPI_BYTE, (rank - mask + ranks) % ranks, 1, comm,
                 MPI_STATUS_IGNORE);
  }
  return MPI_SUCCESS;
}

/* What a proof sees in some calls only. */
static int each_from_root(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, int frees) {
  ask(comm);
  if (rank != root) return MPI_Recv(buffer, count, type, root, 0, comm, MPI_STATUS_IGNORE);
  for (int to = 0; to < ranks; ++to) {
    MPI_Request request;
    if (to == root) continue;
    MPI_Isend(buffer, count, type, to, 0, comm, &request);
    if (frees) MPI_Request_free(&request);
  }
  return MPI_SUCCESS;
}
int leaves_open(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return each_from_root(buffer, count, type, root, comm, 0);
}
int frees_early(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return each_from_root(buffer, count, type, root, comm, 1);
}
/* Right: an answer from each rank shows that its message has arrived. */
int frees_when_done(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  each_from_root(buffer, count, type, root, comm, 1);
  if (rank != root) return MPI_Send(NULL, 0, MPI_BYTE, root, 1, comm);
  for (int from = 0; from < ranks; ++from) {
    if (from != root) MPI_Recv(NULL, 0, MPI_BYTE, from, 1, comm, MPI_STATUS_IGNORE);
  }
  return MPI_SUCCESS;
}
/* Right: the receive that no message comes for is cancelled, and what was for PROC_NULL is complete. */
int cancels_receives(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  MPI_Request request, nobody;
  int unused;
  MPI_Irecv(&unused, 1, MPI_INT, root, 9, comm, &request);
  MPI_Isend(buffer, count, type, MPI_PROC_NULL, 9, comm, &nobody);
  tree_broadcast(buffer, count, type, root, comm);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return MPI_SUCCESS;
}
int leaves_collective(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  MPI_Request request;
  tree_broadcast(buffer, count, type, root, comm);
  return MPI_Ibarrier(comm, &request);
}
int on_world(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  (void)comm;
  ask(MPI_COMM_WORLD);
  if (rank != root) return MPI_Recv(buffer, count, type, root, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int to = 0; to < ranks; ++to) {
    if (to != root) MPI_Send(buffer, count, type, to, 0, MPI_COMM_WORLD);
  }
  return MPI_SUCCESS;
}
/* From rank to rank, whose numbers are right; but other messages are there. */
int through_world(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  MPI_Group own, all;
  ask(comm);
  MPI_Comm_group(comm, &own);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  const int next = (rank + 1) % ranks, previous = (rank - 1 + ranks) % ranks;
  int from, to;
  MPI_Group_translate_ranks(own, 1, &previous, all, &from);
  MPI_Group_translate_ranks(own, 1, &next, all, &to);
  if (rank != root) MPI_Recv(buffer, count, type, from, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (next != root) MPI_Send(buffer, count, type, to, 20, MPI_COMM_WORLD);
  MPI_Group_free(&own);
  MPI_Group_free(&all);
  return MPI_SUCCESS;
}
int keeps_ranks(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  static int known;
  if (!known++) ask(comm);
  if (rank != root) return MPI_Recv(buffer, count, type, root, 0, comm, MPI_STATUS_IGNORE);
  for (int to = 0; to < ranks; ++to) {
    if (to != root) MPI_Send(buffer, count, type, to, 0, comm);
  }
  return MPI_SUCCESS;
}
int one_type(const void *send, int count, MPI_Datatype type, void *receive, int each, MPI_Datatype its_type, MPI_Comm comm) {
  (void)count, (void)type;
  return ring_allgather(send, each, its_type, receive, each, its_type, comm);
}
/* The bytes of the elements with their gaps. */
int as_bytes(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  return tree_broadcast(buffer, (int)(at(buffer, count, type) - (char *)buffer), MPI_BYTE, root, comm);
}
