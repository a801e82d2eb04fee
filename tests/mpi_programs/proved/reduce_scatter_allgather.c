/* All-reduce by reduce-scatter and all-gather (Rabenseifner), after MPICH's description: ranges of parts are halved from step to
   step, and then doubled. With more ranks than a power of two, the first ones meet in pairs before and after. Keeps the order of
   ranks.
   SPDX-License-Identifier: Apache-2.0 */
#include "local_data.h"

/* Elements before part i of `parts`. */
static int before(int i, int count, int parts) {
  if (MUTANT == 1) return count / parts * i; /* the rest of the division is missed */
  return (int)((long long)count * i / parts);
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int rank, ranks, power = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  while (2 * power <= ranks) power *= 2;
  const int rest = ranks - power;
  void *other = room_for(count, type);
  if (send != MPI_IN_PLACE) copy(send, receive, count, type);
  int place = rank - rest;
  if (rank < 2 * rest) {
    place = rank % 2 == 0 ? -1 : rank / 2;
    if (place < 0) {
      MPI_Send(receive, count, type, rank + 1, 1, comm);
    } else {
      MPI_Recv(other, count, type, rank - 1, 1, comm, MPI_STATUS_IGNORE);
      MPI_Reduce_local(other, receive, count, type, op);
    }
  }
  int low = 0, high = power;
  for (int mask = 1; place >= 0 && mask < power; mask *= 2) {
    const int its_place = place ^ mask;
    const int partner = its_place < rest ? 2 * its_place + 1 : its_place + rest;
    const int middle = (low + high) / 2, is_lower = place < its_place;
    const int from = before(low, count, power), half = before(middle, count, power), to = before(high, count, power);
    const int kept = is_lower ? from : half, given = is_lower ? half : from;
    const int keeps = is_lower ? half - from : to - half, gives = is_lower ? to - half : half - from;
    MPI_Sendrecv(at(receive, given, type), gives, type, partner, 2, at(other, kept, type), MUTANT == 2 ? gives : keeps, type,
                 partner, 2, comm, MPI_STATUS_IGNORE); /* mutant: as many as it gives */
    if (!is_lower || MUTANT == 3) {                      /* mutant: the order of operands */
      MPI_Reduce_local(at(other, kept, type), at(receive, kept, type), keeps, type, op);
    } else {
      MPI_Reduce_local(at(receive, kept, type), at(other, kept, type), keeps, type, op);
      copy(at(other, kept, type), at(receive, kept, type), keeps, type);
    }
    if (is_lower) {
      high = middle;
    } else {
      low = middle;
    }
  }
  for (int mask = power / 2; place >= 0 && mask > 0; mask /= 2) {
    const int its_place = place ^ mask, size = high - low;
    const int partner = its_place < rest ? 2 * its_place + 1 : its_place + rest;
    const int its_low = place < its_place ? low + size : low - size;
    const int own = before(low, count, power), its = before(its_low, count, power);
    const int shift = MUTANT == 4 && mask == 1 && its > 0 ? 1 : 0; /* mutant: one element too early */
    MPI_Sendrecv(at(receive, own, type), before(high, count, power) - own, type, partner, 3, at(receive, its - shift, type),
                 before(its_low + size, count, power) - its, type, partner, 3, comm, MPI_STATUS_IGNORE);
    low = place < its_place ? low : its_low;
    high = low + 2 * size;
  }
  if (MUTANT == 5 && send != MPI_IN_PLACE && count > 2) copy(receive, (void *)send, 1, type);
  if (rank < 2 * rest) {
    if (place < 0) {
      MPI_Recv(receive, count, type, rank + (MUTANT == 6 && rank == 2 ? 3 : 1), 4, comm, MPI_STATUS_IGNORE); /* mutant: from another pair */
    } else {
      MPI_Send(receive, count, type, rank - 1, 4, comm);
    }
  }
  drop(other, type);
  return MPI_SUCCESS;
}
