/* Handles as Fortran integers, and back. SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdio.h>

#define SAME(handle, name) (name##_f2c(name##_c2f(handle)) == (handle))

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Fint number = MPI_Comm_c2f(copy), status[MPI_F_STATUS_SIZE];
  int wrong = PMPI_Comm_f2c(number) != copy || !SAME(MPI_COMM_WORLD, MPI_Comm) ||
              number == MPI_Comm_c2f(MPI_COMM_WORLD);
  MPI_Group group;
  MPI_Comm_group(copy, &group);
  wrong += !SAME(group, MPI_Group) || !SAME(MPI_INT, MPI_Type) || !SAME(MPI_SUM, MPI_Op) ||
           !SAME(MPI_INFO_NULL, MPI_Info);
  wrong += !SAME(MPI_ERRORS_RETURN, MPI_Errhandler) || !SAME(MPI_REQUEST_NULL, MPI_Request) ||
           !SAME(MPI_WIN_NULL, MPI_Win);
  wrong += !SAME(MPI_MESSAGE_NULL, MPI_Message) || !SAME(MPI_SESSION_NULL, MPI_Session) ||
           !SAME(MPI_FILE_NULL, MPI_File);
  MPI_Status in = {.MPI_SOURCE = 3, .MPI_TAG = 4, .MPI_ERROR = 5}, out;
  MPI_Status_c2f(&in, status);
  MPI_Status_f2c(status, &out);
  wrong += out.MPI_SOURCE != 3 || out.MPI_TAG != 4 || out.MPI_ERROR != 5;
  MPI_Group_free(&group);
  MPI_Comm_free(&copy);
  printf("%d wrong\n", wrong);
  MPI_Finalize();
}
