// MPI's functions on error classes, codes and handlers.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/errors.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/objects/objects.hpp"

#include <cstring>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

/// An error class or code that the rank added; null if there is none with this number.
AddedErrors::Code* added_code(const Call& call, int number) {
  auto& codes = call.rank().added_errors.codes;
  const auto place = codes.find(number);
  return place == codes.end() ? nullptr : &place->second;
}
AddedErrors::Code& added_before(const Call& call, int number) {
  if (AddedErrors::Code* const found = added_code(call, number)) return *found;
  throw Failure(MPI_ERR_ARG, fmt::format("{} is not an error that the program added", number));
}

int error_string(int code, char* string, int* length) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Error_string);
  return call([&] {
    call.result(length, "resultlen");
    const AddedErrors::Code* const its_own = added_code(call, code);
    const std::string text = is_predefined_class(code)
                                 ? fmt::format("{}: {}", name_of_class(code), text_of_class(code))
                             : its_own != nullptr ? its_own->text
                                                  : fmt::format("unknown error {}", code);
    std::memcpy(string, text.c_str(), text.size() + 1);
    *length = static_cast<int>(text.size());
  });
}

int error_class(int code, int* its_class) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Error_class);
  return call([&] {
    call.result(its_class, "errorclass");
    const AddedErrors::Code* const its_own = added_code(call, code);
    *its_class = is_predefined_class(code) ? code
                 : its_own != nullptr      ? its_own->its_class
                                           : MPI_ERR_UNKNOWN + 0;
  });
}

/// \param its_class  0: a new class
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
        its_own != nullptr ? its_own->its_class == its_class : is_predefined_class(its_class);
    if (!is_class || its_class == MPI_SUCCESS)
      throw Failure(MPI_ERR_ARG, fmt::format("invalid error class {}", its_class));
    *made = add_error(call, its_class);
  });
}

int add_error_string(int code, const char* string) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Add_error_string);
  return call([&] {
    added_before(call, code).text = std::string(string).substr(0, MPI_MAX_ERROR_STRING - 1);
  });
}

/// Removes a code, or a class that has no codes left.
void remove_error(const Call& call, int number, bool class_is_meant) {
  const AddedErrors::Code& found = added_before(call, number);
  if ((found.its_class == number) != class_is_meant) {
    throw Failure(MPI_ERR_ARG, fmt::format("{} is {}", number,
                                           class_is_meant ? "an error code, not a class"
                                                          : "an error class, not a code"));
  }
  auto& codes = call.rank().added_errors.codes;
  for (const auto& [code, each] : codes) {
    if (code != number && each.its_class == number) {
      throw Failure(MPI_ERR_ARG, fmt::format("class {} still has code {}", number, code));
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

int create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* handle) {
  WORMCUBE_MPI_CALL_AT_ANY_TIME(MPI_Comm_create_errhandler);
  return call([&] {
    call.result(handle, "errhandler");
    call.pointer(reinterpret_cast<const void*>(function), 1, "the function");
    *handle = reinterpret_cast<MPI_Errhandler>(new ErrorHandler{function});
  });
}

// Communicators may still use it, so it lives as long as the process.
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
    throw Failure(code, "reported by the program");
  }));
  return MPI_SUCCESS;
}

}  // namespace

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
