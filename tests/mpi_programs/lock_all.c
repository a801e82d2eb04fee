/* Ten epochs of all locks, with an access to one other. SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>

int main(int argc, char **argv) {
  int rank, size, memory[2] = {0, 0};
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  for (int epoch = 0; epoch < 10; ++epoch) {
    MPI_Win_lock_all(0, window);
    MPI_Accumulate(&rank, 1, MPI_INT, (rank + 1) % size, 1, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_unlock_all(window);
  }
  MPI_Win_free(&window);
  MPI_Finalize();
  return memory[1] == 10 * ((rank + size - 1) % size) ? 0 : 1;
}
