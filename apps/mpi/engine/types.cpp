// Datatypes as messages need them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/types.hpp"

#include "wormcube/apps/mpi/engine/error.hpp"
#include "wormcube/apps/mpi/engine/handles.hpp"

#include <atomic>
#include <utility>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

std::atomic<std::uint64_t> next_type{4096};  // behind the predefined ones' values

TypeView view_of(const Datatype& type, MPI_Datatype handle, std::uint64_t serial) {
  return {.size = static_cast<Bytes>(type.size()),
          .extent = type.extent(),
          .dense = type.is_dense(),
          .handle = handle,
          .serial = serial,
          .first = type.true_lower_bound(),
          .type = &type};
}

const DatatypePointer& predefined_type(MPI_Datatype handle) {
  const DatatypePointer& type = Datatype::predefined(handle);
  if (type) return type;
  throw Failure(MPI_ERR_TYPE, handle == MPI_DATATYPE_NULL
                                  ? std::string("the datatype is MPI_DATATYPE_NULL")
                                  : fmt::format("{:#x} is no datatype",
                                                reinterpret_cast<std::uintptr_t>(handle)));
}

}  // namespace

MPI_Datatype new_type(DatatypePointer type) {
  auto* const object = new TypeObject;
  object->serial = next_type++;
  object->type = std::move(type);
  return reinterpret_cast<MPI_Datatype>(object);
}

TypeObject& made_type(MPI_Datatype handle) {
  if (is_predefined(handle)) {
    throw Failure(MPI_ERR_TYPE, fmt::format("{} is predefined", predefined_type(handle)->name()));
  }
  auto* const object = reinterpret_cast<TypeObject*>(handle);
  if (object->magic == TypeObject::alive) return *object;
  throw Failure(MPI_ERR_TYPE, object->magic == TypeObject::dead ? "the datatype has been freed"
                                                                : "the datatype's handle is none");
}

DatatypePointer type_of(MPI_Datatype handle) {
  return is_predefined(handle) ? predefined_type(handle) : made_type(handle).type;
}

TypeView type_view(MPI_Datatype handle, bool must_be_committed) {
  if (is_predefined(handle)) {
    return view_of(*predefined_type(handle), handle, reinterpret_cast<std::uintptr_t>(handle));
  }
  const TypeObject& object = made_type(handle);
  if (must_be_committed && !object.committed) {
    throw Failure(MPI_ERR_TYPE, "the datatype is not committed (MPI_Type_commit)");
  }
  TypeView view = view_of(*object.type, handle, object.serial);
  view.kept = object.type;
  return view;
}

std::string name_of_type(MPI_Datatype handle) {
  if (is_predefined(handle)) return std::string(predefined_type(handle)->name());
  const TypeObject& object = made_type(handle);
  return object.name.empty() ? "a datatype of the program" : object.name;
}

void pack(const TypeView& type, const void* elements, std::size_t count, std::byte* to) {
  type.type->pack(elements, 0, {to, count * type.size});
}

void unpack(const TypeView& type, const std::byte* from, Bytes bytes, void* elements) {
  type.type->unpack(elements, 0, {from, bytes});
}

}  // namespace wormcube::mpi
