/* Must never reach main when it is started directly.
   SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>

int main(void) {
  puts("main was reached");
  return MPI_Barrier(MPI_COMM_WORLD);
}
