/* Local memory for elements of any datatype: temporary buffers and copies. MUTANT is the number of
   the mutant that is compiled; 0: none. SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#ifndef MUTANT
#define MUTANT 0
#endif

static inline char* at(const void* buffer, int element, MPI_Datatype type) {
  MPI_Aint lower, extent;
  MPI_Type_get_extent(type, &lower, &extent);
  return (char*)buffer + element * extent;
}

/* Room for elements; free it with drop(). */
static inline void* room_for(int count, MPI_Datatype type) {
  MPI_Aint lower, extent, first, length;
  MPI_Type_get_extent(type, &lower, &extent);
  MPI_Type_get_true_extent(type, &first, &length);
  const size_t bytes = count > 0 ? (size_t)((count - 1) * extent + length) : 0;
  return (char*)malloc(bytes + 1) - first;
}
static inline void drop(void* room, MPI_Datatype type) {
  MPI_Aint first, length;
  MPI_Type_get_true_extent(type, &first, &length);
  free((char*)room + first);
}

/* From elements of one datatype to elements of another one with the same signature. */
static inline void copy_across(const void* from, int count, MPI_Datatype type, void* to, int each,
                               MPI_Datatype its_type) {
  int bytes, used = 0, taken = 0;
  MPI_Pack_size(count, type, MPI_COMM_SELF, &bytes);
  char* packed = malloc(bytes + 1);
  MPI_Pack(from, count, type, packed, bytes, &used, MPI_COMM_SELF);
  MPI_Unpack(packed, used, &taken, to, each, its_type, MPI_COMM_SELF);
  free(packed);
}
static inline void copy(const void* from, void* to, int count, MPI_Datatype type) {
  copy_across(from, count, type, to, count, type);
}
