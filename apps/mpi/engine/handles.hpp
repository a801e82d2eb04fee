// Handles as numbers: what MPI_X_toint and MPI_X_fromint give.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace wormcube::mpi {

/// A predefined handle is a small constant; every other is the address of an object of ours.
inline bool is_predefined(const void* handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle) < 4096;
}

/// A predefined handle's own value; for others a number that was not given yet, the same as long
/// as the object lives. Any thread.
int number_of_handle(void* handle);

/// The handle of that number; null where there is none.
void* handle_of_number(int number);

/// Its object ends: the number means nothing any more. Nothing happens where it has none.
void forget_number_of(void* handle);

}  // namespace wormcube::mpi
