// Datatypes as messages need them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/functions.h"
#include "wormcube/runtime/op.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace wormcube::mpi {

/// What is known of a type that a call names.
struct TypeView {
  Bytes size = 0;             ///< of the data of one element
  std::ptrdiff_t extent = 0;  ///< from one element to the next
  bool dense = true;          ///< one piece that begins where the element does, size == extent
  MPI_Datatype handle = {};
  std::uint64_t serial = 0;  ///< of no other type that ever was
};

/// Throws Failure(MPI_ERR_TYPE) for what is no type, or, where it is to be used, not committed.
TypeView type_view(MPI_Datatype type, bool must_be_committed = true);
std::string name_of_type(MPI_Datatype type);

/// Between elements in memory and bytes in a row. \param bytes  to unpack: as many as have come
void pack(const TypeView& type, const void* elements, std::size_t count, std::byte* to);
void unpack(const TypeView& type, const std::byte* from, Bytes bytes, void* elements);

void add_type_functions(WormcubeMpiFunctions& table);

}  // namespace wormcube::mpi
