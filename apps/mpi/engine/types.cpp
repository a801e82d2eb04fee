// Datatypes as calls name them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/types.hpp"

#include "wormcube/apps/mpi/engine/error.hpp"
#include "wormcube/apps/mpi/engine/handles.hpp"

#include <atomic>
#include <utility>

#include <fmt/core.h>

namespace wormcube::mpi {

MPI_Datatype new_type(DatatypePointer type, bool committed) {
  static std::atomic<std::uint64_t> next{4096};  // behind the predefined ones' values
  auto* const object = new TypeObject;
  object->committed = committed;
  object->serial = next++;
  object->type = std::move(type);
  return reinterpret_cast<MPI_Datatype>(object);
}

TypeObject& made_type(MPI_Datatype handle) {
  if (is_predefined(handle)) {
    throw Failure(MPI_ERR_TYPE, fmt::format("{} is predefined", (*type_view(handle).type)->name()));
  }
  auto* const object = reinterpret_cast<TypeObject*>(handle);
  if (object->magic == TypeObject::alive) return *object;
  throw Failure(MPI_ERR_TYPE, object->magic == TypeObject::dead ? "the datatype has been freed"
                                                                : "the datatype's handle is none");
}

TypeView type_view(MPI_Datatype handle, bool must_be_committed) {
  const DatatypePointer* found = nullptr;
  std::uint64_t serial = reinterpret_cast<std::uintptr_t>(handle);
  if (is_predefined(handle)) {
    found = &Datatype::predefined(handle);
    if (*found == nullptr) {
      throw Failure(MPI_ERR_TYPE, handle == MPI_DATATYPE_NULL
                                      ? std::string("the datatype is MPI_DATATYPE_NULL")
                                      : fmt::format("{:#x} is no datatype", serial));
    }
  } else {
    const TypeObject& object = made_type(handle);
    if (must_be_committed && !object.committed) {
      throw Failure(MPI_ERR_TYPE, "the datatype is not committed (MPI_Type_commit)");
    }
    found = &object.type;
    serial = object.serial;
  }
  const Datatype& type = **found;
  return {static_cast<Bytes>(type.size()), type.extent(), type.is_dense(), handle, serial, found,
          type.true_lower_bound()};
}

}  // namespace wormcube::mpi
