// Describes elements of a type in words, for errors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/types/datatype.hpp"

#include <cstddef>
#include <string>

namespace wormcube::mpi {

/// "4 MPI_INT", "2 x (MPI_INT, 3 MPI_DOUBLE, ..)".
std::string words_of(const Datatype& type, std::size_t count);

}  // namespace wormcube::mpi
