// Handles: which ones are predefined, and their numbers for MPI_X_toint and MPI_X_fromint.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/functions.h"

#include <cstddef>
#include <cstdint>

namespace wormcube::mpi {

/// A predefined handle is a small constant; every other handle is the address of one of our
/// objects.
inline bool is_predefined(const void* handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle) < 4096;
}

/// Tables of predefined types have this many rows. MPI_DATATYPE_NULL has row 0.
inline constexpr std::size_t predefined_types = 256;
/// The row of a predefined type; predefined_types or more for other handles.
inline std::size_t index_of_predefined(MPI_Datatype type) noexcept {
  return reinterpret_cast<std::uintptr_t>(type) -
         reinterpret_cast<std::uintptr_t>(MPI_DATATYPE_NULL);
}
inline MPI_Datatype predefined_type(std::size_t index) noexcept {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<MPI_Datatype>(reinterpret_cast<std::uintptr_t>(MPI_DATATYPE_NULL) +
                                        index);
}

/// A predefined handle's own value; for others a new number that stays the same as long as the
/// object lives. Any thread.
int number_of_handle(void* handle);

/// The handle with this number; null if there is none.
void* handle_of_number(int number);

/// The object ends, and its number becomes invalid. Does nothing if it has no number.
void forget_number_of(void* handle);

}  // namespace wormcube::mpi
