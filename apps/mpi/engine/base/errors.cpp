// Error classes, error handlers.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/errors.hpp"

#include "wormcube/apps/mpi/engine/core/calls.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/core.h>

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
    ErrorClass{MPI_ERR_INFO_KEY, "MPI_ERR_INFO_KEY", "invalid key of an info"},
    ErrorClass{MPI_ERR_INFO_NOKEY, "MPI_ERR_INFO_NOKEY", "no such key in the info"},
    ErrorClass{MPI_ERR_INFO_VALUE, "MPI_ERR_INFO_VALUE", "invalid value of an info"},
    ErrorClass{MPI_ERR_INFO, "MPI_ERR_INFO", "invalid info"},
    ErrorClass{MPI_ERR_KEYVAL, "MPI_ERR_KEYVAL", "invalid key of an attribute"},
    ErrorClass{MPI_ERR_ASSERT, "MPI_ERR_ASSERT", "invalid assertion"},
    ErrorClass{MPI_ERR_BASE, "MPI_ERR_BASE", "invalid base"},
    ErrorClass{MPI_ERR_DISP, "MPI_ERR_DISP", "invalid displacement"},
    ErrorClass{MPI_ERR_LOCKTYPE, "MPI_ERR_LOCKTYPE", "invalid kind of lock"},
    ErrorClass{MPI_ERR_RMA_ATTACH, "MPI_ERR_RMA_ATTACH", "memory cannot be attached"},
    ErrorClass{MPI_ERR_RMA_CONFLICT, "MPI_ERR_RMA_CONFLICT", "accesses that conflict"},
    ErrorClass{MPI_ERR_RMA_FLAVOR, "MPI_ERR_RMA_FLAVOR", "another flavor of window is needed"},
    ErrorClass{MPI_ERR_RMA_RANGE, "MPI_ERR_RMA_RANGE", "outside of the window"},
    ErrorClass{MPI_ERR_RMA_SHARED, "MPI_ERR_RMA_SHARED", "memory cannot be shared"},
    ErrorClass{MPI_ERR_RMA_SYNC, "MPI_ERR_RMA_SYNC", "calls of windows are not in order"},
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

/// One that the rank has added; null: there is none of this number.
AddedErrors::Code* added_code(const Call& call, int number) {
  auto& codes = call.rank().added_errors.codes;
  const auto place = codes.find(number);
  return place == codes.end() ? nullptr : &place->second;
}
AddedErrors::Code& added_before(const Call& call, int number) {
  if (AddedErrors::Code* const found = added_code(call, number)) return *found;
  throw Failure(MPI_ERR_ARG, fmt::format("{} is no error that the program has added", number));
}

int error_string(int code, char* string, int* length) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Error_string);
  return call([&] {
    call.result(length, "resultlen");
    const ErrorClass* const found = find_class(code);
    const AddedErrors::Code* const its_own = added_code(call, code);
    const std::string text = found != nullptr ? fmt::format("{}: {}", found->name, found->text)
                             : its_own != nullptr
                                 ? its_own->text
                                 : fmt::format("error {}, which is none of MPI's", code);
    std::memcpy(string, text.c_str(), text.size() + 1);
    *length = static_cast<int>(text.size());
  });
}

int error_class(int code, int* its_class) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Error_class);
  return call([&] {
    call.result(its_class, "errorclass");
    const AddedErrors::Code* const its_own = added_code(call, code);
    *its_class = find_class(code) != nullptr ? code
                 : its_own != nullptr        ? its_own->its_class
                                             : MPI_ERR_UNKNOWN + 0;
  });
}

/// \param its_class  0: a class of its own
int add_error(const Call& call, int its_class) {
  AddedErrors& errors = call.rank().added_errors;
  const int number = ++errors.last;
  errors.codes[number] = {its_class == 0 ? number : its_class, {}};
  return number;
}

int add_error_class(int* made) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Add_error_class);
  return call([&] {
    call.result(made, "errorclass");
    *made = add_error(call, 0);
  });
}

int add_error_code(int its_class, int* made) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Add_error_code);
  return call([&] {
    call.result(made, "errorcode");
    const AddedErrors::Code* const its_own = added_code(call, its_class);
    const bool is_class =
        its_own != nullptr ? its_own->its_class == its_class : find_class(its_class) != nullptr;
    if (!is_class || its_class == MPI_SUCCESS)
      throw Failure(MPI_ERR_ARG, fmt::format("{} is no error class", its_class));
    *made = add_error(call, its_class);
  });
}

int add_error_string(int code, const char* string) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Add_error_string);
  return call([&] {
    added_before(call, code).text = std::string(string).substr(0, MPI_MAX_ERROR_STRING - 1);
  });
}

/// Removes a class (which has no codes any more), or a code.
void remove_error(const Call& call, int number, bool class_is_meant) {
  const AddedErrors::Code& found = added_before(call, number);
  if ((found.its_class == number) != class_is_meant) {
    throw Failure(MPI_ERR_ARG,
                  fmt::format("{} is {}", number, class_is_meant ? "a code, no class" : "a class"));
  }
  auto& codes = call.rank().added_errors.codes;
  for (const auto& [code, each] : codes) {
    if (code != number && each.its_class == number) {
      throw Failure(MPI_ERR_ARG, fmt::format("class {} has code {} still", number, code));
    }
  }
  codes.erase(number);
}

int remove_error_class(int number) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Remove_error_class);
  return call([&] { remove_error(call, number, true); });
}
int remove_error_code(int number) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Remove_error_code);
  return call([&] { remove_error(call, number, false); });
}
int remove_error_string(int number) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Remove_error_string);
  return call([&] { added_before(call, number).text.clear(); });
}

}  // namespace

void require_handler(MPI_Errhandler handle) {
  if (handle == MPI_ERRORS_ARE_FATAL || handle == MPI_ERRORS_ABORT || handle == MPI_ERRORS_RETURN ||
      (!is_predefined(handle) && handle != nullptr))
    return;
  throw Failure(MPI_ERR_ERRHANDLER, "the error handler is none");
}

namespace {

int create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* handle) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Comm_create_errhandler);
  return call([&] {
    call.result(handle, "errhandler");
    call.pointer(reinterpret_cast<const void*>(function), 1, "the function");
    *handle = reinterpret_cast<MPI_Errhandler>(new ErrorHandler{function});
  });
}

// Communicators may still have it: it lives as long as the process.
int errhandler_free(MPI_Errhandler* handle) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Errhandler_free);
  return call([&] {
    call.result(handle, "errhandler");
    require_handler(*handle);
    *handle = MPI_ERRHANDLER_NULL;
  });
}

int set_errhandler(MPI_Comm on, MPI_Errhandler handle) {
  WORMCUBE_MPI_CALL(MPI_Comm_set_errhandler);
  return call([&] {
    Communicator& communicator = call.communicator(on);
    require_handler(handle);
    communicator.errors = handle;
  });
}

int get_errhandler(MPI_Comm on, MPI_Errhandler* handle) {
  WORMCUBE_MPI_CALL(MPI_Comm_get_errhandler);
  return call([&] {
    call.result(handle, "errhandler");
    *handle = call.communicator(on).errors;
  });
}

int call_errhandler(MPI_Comm on, int code) {
  WORMCUBE_MPI_CALL(MPI_Comm_call_errhandler);
  static_cast<void>(call([&] {
    call.communicator(on);
    throw Failure(code, "called by the program");
  }));
  return MPI_SUCCESS;
}

}  // namespace

const ErrorHandler* error_handler(MPI_Errhandler handle) {
  return is_predefined(handle) ? nullptr : reinterpret_cast<const ErrorHandler*>(handle);
}

std::string_view name_of_class(int number) {
  const ErrorClass* const found = find_class(number);
  return found != nullptr ? found->name : "an error of its own";
}
std::string_view text_of_class(int number) {
  const ErrorClass* const found = find_class(number);
  return found != nullptr ? found->text : "an error of its own";
}

void add_error_functions(WormcubeMpiFunctions& table) {
  table.MPI_Error_string = error_string;
  table.MPI_Error_class = error_class;
  table.MPI_Add_error_class = add_error_class;
  table.MPI_Add_error_code = add_error_code;
  table.MPI_Add_error_string = add_error_string;
  table.MPI_Remove_error_class = remove_error_class;
  table.MPI_Remove_error_code = remove_error_code;
  table.MPI_Remove_error_string = remove_error_string;
  table.MPI_Comm_create_errhandler = create_errhandler;
  table.MPI_Errhandler_free = errhandler_free;
  table.MPI_Comm_set_errhandler = set_errhandler;
  table.MPI_Comm_get_errhandler = get_errhandler;
  table.MPI_Comm_call_errhandler = call_errhandler;
}

}  // namespace wormcube::mpi
