// Error classes in words, and the user's error handlers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/functions.h"
#include "wormcube/apps/mpi/engine/base/handles.hpp"

#include <string_view>

namespace wormcube::mpi {

struct ErrorHandler {
  MPI_Comm_errhandler_function* function;
};
/// The user's own; null for the predefined ones.
const ErrorHandler* error_handler(MPI_Errhandler handle);

/// Throws Failure(MPI_ERR_ERRHANDLER) for what is none.
void require_handler(MPI_Errhandler handle);

/// Whether it is one of those of mpi.h.
bool is_predefined_class(int error_class);
/// "MPI_ERR_RANK"
std::string_view name_of_class(int error_class);
/// "invalid rank"
std::string_view text_of_class(int error_class);

}  // namespace wormcube::mpi
