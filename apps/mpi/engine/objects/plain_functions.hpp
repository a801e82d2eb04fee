// The functions of MPI that need no rank: addresses, versions, handles as numbers, statuses.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/functions.h"

#include <string_view>

namespace wormcube::mpi {

/// Enters them into the table.
void add_plain_functions(WormcubeMpiFunctions& table);

/// What MPI_Get_library_version says.
std::string_view library_version();

}  // namespace wormcube::mpi
