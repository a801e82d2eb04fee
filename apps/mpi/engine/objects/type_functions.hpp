// What MPI's functions on datatypes share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/base/attributes.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"

#include <cstdint>
#include <limits>

namespace wormcube::mpi {

/// A number in the caller's type; UNDEFINED if it does not fit.
template <class Count>
Count as_count(std::int64_t number) {
  return number > std::numeric_limits<Count>::max() ? static_cast<Count>(MPI_UNDEFINED)
                                                    : static_cast<Count>(number);
}

/// A type that a call uses to make another one, or queries.
inline const DatatypePointer& type_of(MPI_Datatype handle) {
  return *type_view(handle, false).type;
}

/// Throws Failure if there is no such type.
AttributeSet<MPI_Datatype>& attributes_of(const Call& call, MPI_Datatype type);

void add_type_constructors(WormcubeMpiFunctions& table);
void add_packing_functions(WormcubeMpiFunctions& table);

}  // namespace wormcube::mpi
