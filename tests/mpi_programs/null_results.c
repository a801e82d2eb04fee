/* A null pointer where a result goes is an error of class MPI_ERR_ARG.
   SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>

static int wrong;
static void expect(int line, int error) {
  int its_class = MPI_SUCCESS;
  MPI_Error_class(error, &its_class);
  if (its_class == MPI_ERR_ARG) return;
  printf("line %d: class %d\n", line, its_class);
  ++wrong;
}
#define EXPECT(call) expect(__LINE__, call)

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int value, word[2] = {0, 1};
  MPI_Group group;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  EXPECT(MPI_Comm_size(MPI_COMM_WORLD, NULL));
  EXPECT(MPI_Comm_rank(MPI_COMM_WORLD, NULL));
  EXPECT(MPI_Comm_group(MPI_COMM_WORLD, NULL));
  EXPECT(MPI_Comm_dup(MPI_COMM_WORLD, NULL));
  EXPECT(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, NULL));
  EXPECT(MPI_Comm_free(NULL));
  EXPECT(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, NULL));
  EXPECT(MPI_Comm_test_inter(MPI_COMM_WORLD, NULL));
  EXPECT(MPI_Group_size(group, NULL));
  EXPECT(MPI_Group_rank(group, NULL));
  EXPECT(MPI_Group_free(NULL));
  EXPECT(MPI_Type_size(MPI_INT, NULL));
  EXPECT(MPI_Type_contiguous(2, MPI_INT, NULL));
  EXPECT(MPI_Type_commit(NULL));
  EXPECT(MPI_Type_free(NULL));
  EXPECT(MPI_Op_free(NULL));
  EXPECT(MPI_Info_create(NULL));
  EXPECT(MPI_Topo_test(MPI_COMM_WORLD, NULL));
  EXPECT(MPI_Alloc_mem(8, MPI_INFO_NULL, NULL));
  EXPECT(MPI_Win_create(word, sizeof word, 1, MPI_INFO_NULL, MPI_COMM_WORLD, NULL));
  MPI_Group_free(&group);
  MPI_Reduce(&wrong, &value, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("%d wrong\n", value);
  MPI_Finalize();
}
