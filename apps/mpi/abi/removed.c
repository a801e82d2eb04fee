/* Functions of MPI 1 that MPI 3 removed, implemented with their replacements for old programs.
   SPDX-License-Identifier: Apache-2.0 */
#define WORMCUBE_MPI1
#include "wormcube/mpi/mpi.h"

#define REMOVED(name, parameters)                              \
  int name parameters __attribute__((weak, alias("P" #name))); \
  int P##name parameters

REMOVED(MPI_Address, (void *location, MPI_Aint *address)) {
  return PMPI_Get_address(location, address);
}

REMOVED(MPI_Type_hvector, (int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                           MPI_Datatype *newtype)) {
  return PMPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}

REMOVED(MPI_Type_hindexed, (int count, int blocklengths[], MPI_Aint displacements[],
                            MPI_Datatype oldtype, MPI_Datatype *newtype)) {
  return PMPI_Type_create_hindexed(count, blocklengths, displacements, oldtype, newtype);
}

REMOVED(MPI_Type_struct, (int count, int blocklengths[], MPI_Aint displacements[],
                          MPI_Datatype types[], MPI_Datatype *newtype)) {
  return PMPI_Type_create_struct(count, blocklengths, displacements, types, newtype);
}

REMOVED(MPI_Type_extent, (MPI_Datatype datatype, MPI_Aint *extent)) {
  MPI_Aint lower;
  return PMPI_Type_get_extent(datatype, &lower, extent);
}

REMOVED(MPI_Type_lb, (MPI_Datatype datatype, MPI_Aint *displacement)) {
  MPI_Aint extent;
  return PMPI_Type_get_extent(datatype, displacement, &extent);
}

REMOVED(MPI_Type_ub, (MPI_Datatype datatype, MPI_Aint *displacement)) {
  MPI_Aint lower = 0, extent = 0;
  const int error = PMPI_Type_get_extent(datatype, &lower, &extent);
  if (error == MPI_SUCCESS) *displacement = lower + extent;
  return error;
}

REMOVED(MPI_Errhandler_create, (MPI_Handler_function * handler_fn, MPI_Errhandler *errhandler)) {
  return PMPI_Comm_create_errhandler(handler_fn, errhandler);
}

REMOVED(MPI_Errhandler_set, (MPI_Comm comm, MPI_Errhandler errhandler)) {
  return PMPI_Comm_set_errhandler(comm, errhandler);
}

REMOVED(MPI_Errhandler_get, (MPI_Comm comm, MPI_Errhandler *errhandler)) {
  return PMPI_Comm_get_errhandler(comm, errhandler);
}
