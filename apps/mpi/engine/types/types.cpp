// Datatypes as calls name them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/types/types.hpp"

#include "wormcube/apps/mpi/engine/base/error.hpp"

#include <atomic>
#include <utility>

#include <fmt/core.h>

namespace wormcube::mpi {

namespace {

TypeView view_of(const DatatypePointer& type, MPI_Datatype handle, std::uint64_t serial) {
  return {static_cast<Bytes>(type->size()), type->extent(), type->is_dense(), handle, serial, &type,
          type->true_lower_bound()};
}

}  // namespace

PredefinedViews predefined_views() {
  PredefinedViews views;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const MPI_Datatype handle = predefined_type(i);
    const DatatypePointer& type = Datatype::predefined(handle);
    if (type != nullptr) views[i] = view_of(type, handle, reinterpret_cast<std::uintptr_t>(handle));
  }
  return views;
}

MPI_Datatype new_type(DatatypePointer type, bool committed) {
  static std::atomic<std::uint64_t> next{4096};  // above the values of the predefined types
  auto* const object = new TypeObject;
  const auto handle = reinterpret_cast<MPI_Datatype>(object);
  object->committed = committed;
  object->type = std::move(type);
  object->view = view_of(object->type, handle, next++);
  return handle;
}

TypeObject& made_type(MPI_Datatype handle) {
  if (is_predefined(handle)) {
    throw Failure(MPI_ERR_TYPE, fmt::format("{} is predefined", (*type_view(handle).type)->name()));
  }
  auto* const object = reinterpret_cast<TypeObject*>(handle);
  if (object->magic == TypeObject::alive) return *object;
  throw Failure(MPI_ERR_TYPE, object->magic == TypeObject::dead ? "the datatype has been freed"
                                                                : "invalid datatype handle");
}

const TypeView& made_type_view(MPI_Datatype handle, bool must_be_committed) {
  if (is_predefined(handle)) {
    throw Failure(MPI_ERR_TYPE, handle == MPI_DATATYPE_NULL
                                    ? std::string("the datatype is MPI_DATATYPE_NULL")
                                    : fmt::format("invalid datatype handle {:#x}",
                                                  reinterpret_cast<std::uintptr_t>(handle)));
  }
  const TypeObject& object = made_type(handle);
  if (must_be_committed && !object.committed) {
    throw Failure(MPI_ERR_TYPE, "the datatype is not committed (MPI_Type_commit)");
  }
  return object.view;
}

}  // namespace wormcube::mpi
