// MPI's functions by number.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace wormcube::mpi {

enum class Function : std::uint16_t {
#define WORMCUBE_MPI_FUNCTION(result, name, parameters, arguments) name,
#include "wormcube/mpi/functions.def"
#undef WORMCUBE_MPI_FUNCTION
  count
};
/// "MPI_Send"
const char* name_of(Function function);

}  // namespace wormcube::mpi
