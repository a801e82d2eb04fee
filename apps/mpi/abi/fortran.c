/* Handles as Fortran integers, by the functions of the standard ABI that replaced them.
   SPDX-License-Identifier: Apache-2.0 */
#include "wormcube/mpi/mpi.h"

#include <string.h>

#define WEAK(name) __attribute__((weak, alias("P" #name)))

#define CONVERSIONS(handle, name)                                             \
  MPI_Fint P##name##_c2f(handle object) { return P##name##_toint(object); }   \
  MPI_Fint name##_c2f(handle object) WEAK(name##_c2f);                        \
  handle P##name##_f2c(MPI_Fint number) { return P##name##_fromint(number); } \
  handle name##_f2c(MPI_Fint number) WEAK(name##_f2c);
CONVERSIONS(MPI_Comm, MPI_Comm)
CONVERSIONS(MPI_Datatype, MPI_Type)
CONVERSIONS(MPI_Errhandler, MPI_Errhandler)
CONVERSIONS(MPI_File, MPI_File)
CONVERSIONS(MPI_Group, MPI_Group)
CONVERSIONS(MPI_Info, MPI_Info)
CONVERSIONS(MPI_Message, MPI_Message)
CONVERSIONS(MPI_Op, MPI_Op)
CONVERSIONS(MPI_Request, MPI_Request)
CONVERSIONS(MPI_Session, MPI_Session)
CONVERSIONS(MPI_Win, MPI_Win)

/* A status has the same size in both languages. */
_Static_assert(sizeof(MPI_Status) == MPI_F_STATUS_SIZE * sizeof(MPI_Fint), "a status of Fortran");

int PMPI_Status_c2f(const MPI_Status* c_status, MPI_Fint* f_status) {
  memcpy(f_status, c_status, sizeof *c_status);
  return MPI_SUCCESS;
}
int MPI_Status_c2f(const MPI_Status* c_status, MPI_Fint* f_status) WEAK(MPI_Status_c2f);

int PMPI_Status_f2c(const MPI_Fint* f_status, MPI_Status* c_status) {
  memcpy(c_status, f_status, sizeof *c_status);
  return MPI_SUCCESS;
}
int MPI_Status_f2c(const MPI_Fint* f_status, MPI_Status* c_status) WEAK(MPI_Status_f2c);
