// Names and texts of error classes, and user-defined error handlers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/functions.h"
#include "wormcube/apps/mpi/engine/base/handles.hpp"

#include <string_view>

namespace wormcube::mpi {

struct ErrorHandler {
  MPI_Comm_errhandler_function* function;
};
/// A user-defined handler; null for the predefined ones.
const ErrorHandler* error_handler(MPI_Errhandler handle);

/// Throws Failure(MPI_ERR_ERRHANDLER) for an invalid one.
void require_handler(MPI_Errhandler handle);

/// Whether mpi.h defines this class.
bool is_predefined_class(int error_class);
/// "MPI_ERR_RANK"
std::string_view name_of_class(int error_class);
/// "invalid rank"
std::string_view text_of_class(int error_class);

}  // namespace wormcube::mpi
