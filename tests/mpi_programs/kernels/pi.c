/* The area under a curve, by the midpoint rule. SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

void pi(void) {
  int intervals = rank == 0 ? 100000 : 0;
  MPI_Bcast(&intervals, 1, MPI_INT, 0, MPI_COMM_WORLD);
  double mine = 0, sum = 0;
  for (int i = rank; i < intervals; i += size) {
    const double x = (i + 0.5) / intervals;
    mine += 4 / (1 + x * x);
  }
  MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("pi: %.9f\n", sum / intervals);
}
