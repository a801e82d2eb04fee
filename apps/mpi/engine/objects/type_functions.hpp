// What MPI's functions on datatypes have in common.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/base/attributes.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"

#include <cstdint>
#include <limits>

namespace wormcube::mpi {

/// A number as the caller takes it; UNDEFINED if that is too small for it.
template <class Count>
Count as_count(std::int64_t number) {
  return number > std::numeric_limits<Count>::max() ? static_cast<Count>(MPI_UNDEFINED)
                                                    : static_cast<Count>(number);
}

/// A type of a call that makes another, or asks.
inline const DatatypePointer& type_of(MPI_Datatype handle) {
  return *type_view(handle, false).type;
}

/// Throws Failure if there is no such type.
AttributeSet<MPI_Datatype>& attributes_of(const Call& call, MPI_Datatype type);

void add_type_constructors(WormcubeMpiFunctions& table);
void add_packing_functions(WormcubeMpiFunctions& table);

}  // namespace wormcube::mpi
