/* All-reduce by recursive doubling, after MPICH's description: with more ranks than a power of two, the first ones meet in
   pairs before and after. Keeps the order of ranks.
   SPDX-License-Identifier: Apache-2.0 */
#include "local_data.h"

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int rank, ranks, power = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  while (2 * power <= ranks) power *= 2;
  const int rest = ranks - power; /* pairs (0, 1), (2, 3), .. */
  void *other = room_for(count, type);
  if (MUTANT == 1 && send != MPI_IN_PLACE) {
    int size;
    MPI_Type_size(type, &size);
    memcpy(receive, send, (size_t)count * size); /* gaps are forgotten */
  } else if (MUTANT == 2) {
    copy(send == MPI_IN_PLACE ? other : send, receive, count, type); /* in place, its input is lost */
  } else if (send != MPI_IN_PLACE) {
    copy(send, receive, count, type);
  }
  int place = rank - rest; /* among those that double; -1: not among them */
  if (rank < 2 * rest) {
    place = rank % 2 == 0 ? -1 : rank / 2;
    if (place < 0) {
      MPI_Send(receive, count, type, rank + 1, 1, comm);
    } else {
      MPI_Recv(other, count, type, rank - 1, 1, comm, MPI_STATUS_IGNORE);
      if (MUTANT != 3) MPI_Reduce_local(other, receive, count, type, op); /* mutant: the remainder is missed */
    }
  }
  for (int mask = 1; place >= 0 && mask < power; mask *= 2) {
    const int its_place = place ^ mask;
    const int partner = its_place < rest ? 2 * its_place + 1 : its_place + rest;
    if (MUTANT == 4) { /* waits first */
      MPI_Recv(other, count, type, partner, 2, comm, MPI_STATUS_IGNORE);
      MPI_Send(receive, count, type, partner, 2, comm);
    } else if (MUTANT == 5) { /* relies on buffers */
      MPI_Send(receive, count, type, partner, 2, comm);
      MPI_Recv(other, count, type, partner, 2, comm, MPI_STATUS_IGNORE);
    } else {
      const int tag = MUTANT == 6 && mask == 4 && place > its_place ? 3 : 2;
      MPI_Sendrecv(receive, count, type, partner, tag, other, count, type, partner, 2, comm, MPI_STATUS_IGNORE);
    }
    const int many = MUTANT == 7 ? count / 2 * 2 : count; /* mutant: the last of an odd number is missed */
    if (partner < rank || MUTANT == 8) {                  /* mutant: the order of operands */
      MPI_Reduce_local(other, receive, many, type, op);
    } else {
      MPI_Reduce_local(receive, other, many, type, op);
      copy(other, receive, count, type);
    }
  }
  if (rank < 2 * rest && MUTANT != 9) { /* mutant: the others' result */
    if (place < 0) {
      MPI_Recv(receive, count, type, rank + 1, 4, comm, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(receive, count, type, rank - 1, 4, comm);
    }
  }
  drop(other, type);
  return MPI_SUCCESS;
}
