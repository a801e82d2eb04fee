// MPI functions that need no rank: addresses, versions, handles as numbers, statuses.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/functions.h"

#include <string_view>

namespace wormcube::mpi {

/// Enters these functions into the table.
void add_plain_functions(WormcubeMpiFunctions& table);

/// The text that MPI_Get_library_version returns.
std::string_view library_version();

}  // namespace wormcube::mpi
