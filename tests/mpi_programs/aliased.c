/* A buffer that a collective call both reads and writes. aliased CALL: the one that is wrong;
   right: what only looks so.
   SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size, a[64] = {0}, counts[16];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 16; ++i) counts[i] = 1;
  const char* const what = argc > 1 ? argv[1] : "";
  const MPI_Comm all = MPI_COMM_WORLD;
  if (strcmp(what, "allreduce") == 0) MPI_Allreduce(a, a, 1, MPI_INT, MPI_SUM, all);
  if (strcmp(what, "overlap") == 0) MPI_Allreduce(a, a + 1, 2, MPI_INT, MPI_SUM, all);
  if (strcmp(what, "reduce") == 0) MPI_Reduce(a, a, 1, MPI_INT, MPI_SUM, 0, all);
  if (strcmp(what, "scan") == 0) MPI_Scan(a, a, 1, MPI_INT, MPI_SUM, all);
  if (strcmp(what, "exscan") == 0) MPI_Exscan(a, a, 1, MPI_INT, MPI_SUM, all);
  if (strcmp(what, "reduce_scatter_block") == 0)
    MPI_Reduce_scatter_block(a, a, 1, MPI_INT, MPI_SUM, all);
  if (strcmp(what, "reduce_scatter") == 0) MPI_Reduce_scatter(a, a, counts, MPI_INT, MPI_SUM, all);
  if (strcmp(what, "allgather") == 0) MPI_Allgather(a + rank, 1, MPI_INT, a, 1, MPI_INT, all);
  if (strcmp(what, "gather") == 0) MPI_Gather(a, 1, MPI_INT, a, 1, MPI_INT, 0, all);
  if (strcmp(what, "scatter") == 0) MPI_Scatter(a, 1, MPI_INT, a, 1, MPI_INT, 0, all);
  if (strcmp(what, "alltoall") == 0) MPI_Alltoall(a, 1, MPI_INT, a, 1, MPI_INT, all);
  if (strcmp(what, "right") == 0) {
    /* Every other element, and those between. */
    MPI_Datatype every_other;
    MPI_Type_vector(2, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Allgather(a + 1, 0, MPI_INT, a, 0, MPI_INT, all);
    MPI_Allgather(a, 1, every_other, a + 4, 1, every_other, all);
    MPI_Allreduce(a, a + 1, 1, MPI_INT, MPI_SUM, all);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : a, a, 1, MPI_INT, MPI_SUM, 0, all);
    MPI_Type_free(&every_other);
  }
  if (rank == 0) printf("quiet\n");
  MPI_Finalize();
}
