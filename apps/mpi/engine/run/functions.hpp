// The table of functions that the MPI library takes from this program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/functions.h"

namespace wormcube::mpi {

/// All functions that wormcube provides.
const WormcubeMpiFunctions& provided_functions();

void add_environment_functions(WormcubeMpiFunctions& table);

}  // namespace wormcube::mpi
