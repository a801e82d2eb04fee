// Names and texts of error classes; error handlers.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/errors.hpp"

#include "wormcube/apps/mpi/engine/base/error.hpp"

#include <algorithm>
#include <array>

namespace wormcube::mpi {
namespace {

struct ErrorClass {
  int number;
  std::string_view name, text;
};
constexpr std::array error_classes{
    ErrorClass{MPI_SUCCESS, "MPI_SUCCESS", "no error"},
    ErrorClass{MPI_ERR_BUFFER, "MPI_ERR_BUFFER", "invalid buffer"},
    ErrorClass{MPI_ERR_COUNT, "MPI_ERR_COUNT", "invalid count"},
    ErrorClass{MPI_ERR_TYPE, "MPI_ERR_TYPE", "invalid datatype"},
    ErrorClass{MPI_ERR_TAG, "MPI_ERR_TAG", "invalid tag"},
    ErrorClass{MPI_ERR_COMM, "MPI_ERR_COMM", "invalid communicator"},
    ErrorClass{MPI_ERR_RANK, "MPI_ERR_RANK", "invalid rank"},
    ErrorClass{MPI_ERR_REQUEST, "MPI_ERR_REQUEST", "invalid request"},
    ErrorClass{MPI_ERR_ROOT, "MPI_ERR_ROOT", "invalid root"},
    ErrorClass{MPI_ERR_GROUP, "MPI_ERR_GROUP", "invalid group"},
    ErrorClass{MPI_ERR_OP, "MPI_ERR_OP", "invalid operator"},
    ErrorClass{MPI_ERR_TOPOLOGY, "MPI_ERR_TOPOLOGY", "invalid topology"},
    ErrorClass{MPI_ERR_DIMS, "MPI_ERR_DIMS", "invalid dimensions"},
    ErrorClass{MPI_ERR_ARG, "MPI_ERR_ARG", "invalid argument"},
    ErrorClass{MPI_ERR_UNKNOWN, "MPI_ERR_UNKNOWN", "unknown error"},
    ErrorClass{MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE", "message truncated"},
    ErrorClass{MPI_ERR_OTHER, "MPI_ERR_OTHER", "other error"},
    ErrorClass{MPI_ERR_INTERN, "MPI_ERR_INTERN", "internal error"},
    ErrorClass{MPI_ERR_PENDING, "MPI_ERR_PENDING", "not complete yet"},
    ErrorClass{MPI_ERR_IN_STATUS, "MPI_ERR_IN_STATUS", "the error is in the status"},
    ErrorClass{MPI_ERR_INFO_KEY, "MPI_ERR_INFO_KEY", "invalid info key"},
    ErrorClass{MPI_ERR_INFO_NOKEY, "MPI_ERR_INFO_NOKEY", "no such key in the info"},
    ErrorClass{MPI_ERR_INFO_VALUE, "MPI_ERR_INFO_VALUE", "invalid info value"},
    ErrorClass{MPI_ERR_INFO, "MPI_ERR_INFO", "invalid info"},
    ErrorClass{MPI_ERR_KEYVAL, "MPI_ERR_KEYVAL", "invalid attribute key"},
    ErrorClass{MPI_ERR_ASSERT, "MPI_ERR_ASSERT", "invalid assertion"},
    ErrorClass{MPI_ERR_BASE, "MPI_ERR_BASE", "invalid base"},
    ErrorClass{MPI_ERR_DISP, "MPI_ERR_DISP", "invalid displacement"},
    ErrorClass{MPI_ERR_LOCKTYPE, "MPI_ERR_LOCKTYPE", "invalid lock type"},
    ErrorClass{MPI_ERR_RMA_ATTACH, "MPI_ERR_RMA_ATTACH", "memory cannot be attached"},
    ErrorClass{MPI_ERR_RMA_CONFLICT, "MPI_ERR_RMA_CONFLICT", "conflicting accesses"},
    ErrorClass{MPI_ERR_RMA_FLAVOR, "MPI_ERR_RMA_FLAVOR", "wrong window flavor"},
    ErrorClass{MPI_ERR_RMA_RANGE, "MPI_ERR_RMA_RANGE", "outside the window"},
    ErrorClass{MPI_ERR_RMA_SHARED, "MPI_ERR_RMA_SHARED", "memory cannot be shared"},
    ErrorClass{MPI_ERR_RMA_SYNC, "MPI_ERR_RMA_SYNC",
               "window synchronization calls are out of order"},
    ErrorClass{MPI_ERR_SIZE, "MPI_ERR_SIZE", "invalid size"},
    ErrorClass{MPI_ERR_WIN, "MPI_ERR_WIN", "invalid window"},
    ErrorClass{MPI_ERR_NO_MEM, "MPI_ERR_NO_MEM", "out of memory"},
    ErrorClass{MPI_ERR_UNSUPPORTED_OPERATION, "MPI_ERR_UNSUPPORTED_OPERATION", "not supported"},
    ErrorClass{MPI_ERR_ERRHANDLER, "MPI_ERR_ERRHANDLER", "invalid error handler"},
};

const ErrorClass* find_class(int number) {
  const auto found = std::ranges::find(error_classes, number, &ErrorClass::number);
  return found == error_classes.end() ? nullptr : &*found;
}

}  // namespace

void require_handler(MPI_Errhandler handle) {
  if (handle == MPI_ERRORS_ARE_FATAL || handle == MPI_ERRORS_ABORT || handle == MPI_ERRORS_RETURN ||
      (!is_predefined(handle) && handle != nullptr))
    return;
  throw Failure(MPI_ERR_ERRHANDLER, "invalid error handler");
}

const ErrorHandler* error_handler(MPI_Errhandler handle) {
  return is_predefined(handle) ? nullptr : reinterpret_cast<const ErrorHandler*>(handle);
}

bool is_predefined_class(int number) { return find_class(number) != nullptr; }
std::string_view name_of_class(int number) {
  const ErrorClass* const found = find_class(number);
  return found != nullptr ? found->name : "error added by the program";
}
std::string_view text_of_class(int number) {
  const ErrorClass* const found = find_class(number);
  return found != nullptr ? found->text : "error added by the program";
}

}  // namespace wormcube::mpi
