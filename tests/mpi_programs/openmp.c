/* MPI_THREAD_FUNNELED: the master calls MPI within a parallel region.
   SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int provided, rank, size, wrong = 0, all = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 50; ++i) {
    const int from = (rank + size - 1) % size;
    int sum = 0, got = -1, threads = 0, numbers = 0;
#pragma omp parallel num_threads(3) shared(sum, got, threads, numbers)
    {
#pragma omp master
      {
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, from, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        threads = omp_get_num_threads();
      }
#pragma omp barrier
#pragma omp atomic
      sum += got;
#pragma omp atomic
      numbers += omp_get_thread_num();
    }
    wrong += threads != 3 || sum != 3 * from || numbers != 3;
  }
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", all);
  MPI_Finalize();
}
