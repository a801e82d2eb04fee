/* All-reduce by recursive multiplying, after MPICH's description: the ranks above a power of RADIX give their data to lower
   ones, and get the result from them; the others meet in groups of RADIX, which lie further apart from round to round. With a
   power of RADIX ranks it keeps their order.
   SPDX-License-Identifier: Apache-2.0 */
#include "local_data.h"

#ifndef RADIX
#define RADIX 3
#endif

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int rank, ranks, power = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  while (RADIX * power <= ranks) power *= RADIX;
  void *others[RADIX];
  for (int i = 0; i < RADIX; ++i) others[i] = room_for(count, type);
  if (send != MPI_IN_PLACE) copy(send, receive, count, type);
  if (rank >= power) {
    if (MUTANT != 1) MPI_Send(receive, count, type, rank % power, 1, comm);
  } else {
    for (int from = rank + power; from < ranks; from += power) {
      if (MUTANT == 1) break; /* the remainder is missed */
      if (MUTANT == 2 && from > rank + power) break; /* more than one rank's remainder */
      MPI_Recv(others[0], count, type, from, 1, comm, MPI_STATUS_IGNORE);
      MPI_Reduce_local(others[0], receive, count, type, op);
    }
    for (int distance = 1; distance < power; distance *= RADIX) {
      const int own = rank / distance % RADIX, first = rank - own * distance;
      MPI_Request requests[2 * RADIX];
      int open = 0;
      for (int i = 0; i < RADIX; ++i) {
        if (i == own) continue;
        MPI_Irecv(others[i], count, type, first + i * distance, 2, comm, &requests[open++]);
        MPI_Isend(receive, count, type, first + i * distance, 2, comm, &requests[open++]);
      }
      if (MUTANT != 3) MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
      if (MUTANT == 4) { /* its own comes first, whatever its place */
        for (int i = 0; i < RADIX; ++i) {
          if (i == own) continue;
          MPI_Reduce_local(receive, others[i], count, type, op);
          copy(others[i], receive, count, type);
        }
      } else {
        copy(receive, others[own], count, type);
        for (int i = 1; i < RADIX; ++i) MPI_Reduce_local(others[i - 1], others[i], count, type, op);
        copy(others[RADIX - 1], receive, count, type);
      }
      if (MUTANT == 5) { /* one is combined twice */
        MPI_Reduce_local(others[0], receive, count > 1 ? 1 : 0, type, op);
      }
      if (MUTANT == 3) MPI_Waitall(open, requests, MPI_STATUSES_IGNORE); /* too late */
    }
    for (int to = rank + power; to < ranks; to += power) MPI_Send(receive, count, type, to, 3, comm);
  }
  if (rank >= power) MPI_Recv(receive, count, type, rank % power, 3, comm, MPI_STATUS_IGNORE);
  for (int i = 0; i < RADIX; ++i) drop(others[i], type);
  return MPI_SUCCESS;
}
