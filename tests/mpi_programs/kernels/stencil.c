/* Values on a ring, each replaced by a sum over its neighbours, in integers. SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

void stencil(void) {
  enum { POINTS = 50, STEPS = 10 };
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  unsigned now[POINTS + 2], old[POINTS + 2];
  for (int i = 0; i < POINTS + 2; ++i) now[i] = (unsigned)(rank * POINTS + i) * 2654435761u;
  for (int step = 0; step < STEPS; ++step) {
    MPI_Sendrecv(now + POINTS, 1, MPI_UNSIGNED, next, 0, now, 1, MPI_UNSIGNED, previous, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(now + 1, 1, MPI_UNSIGNED, previous, 1, now + POINTS + 1, 1, MPI_UNSIGNED, next, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < POINTS + 2; ++i) old[i] = now[i];
    for (int i = 1; i <= POINTS; ++i) now[i] = old[i - 1] + 3 * old[i] + old[i + 1];
  }
  unsigned least = now[1], all;
  for (int i = 2; i <= POINTS; ++i) least = now[i] < least ? now[i] : least;
  MPI_Allreduce(&least, &all, 1, MPI_UNSIGNED, MPI_MIN, MPI_COMM_WORLD);
  tell_sum("stencil", (Number)all + least);
}
