// The names of MPI's functions.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/abi/function.hpp"

#include <cstddef>

namespace wormcube::mpi {

const char* name_of(Function function) {
  static constexpr const char* names[] = {
#define WORMCUBE_MPI_FUNCTION(result, name, parameters, arguments) #name,
#include "wormcube/mpi/functions.def"
#undef WORMCUBE_MPI_FUNCTION
      "no MPI function"};
  return names[static_cast<std::size_t>(function)];
}

}  // namespace wormcube::mpi
