// Datatypes as calls name them: handles, and the properties that messages need.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/functions.h"
#include "wormcube/apps/mpi/engine/base/attributes.hpp"
#include "wormcube/apps/mpi/engine/base/handles.hpp"
#include "wormcube/apps/mpi/engine/types/datatype.hpp"
#include "wormcube/runtime/node/op.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace wormcube::mpi {

/// The properties of a type that a call names; valid while the handle is.
struct TypeView {
  Bytes size = 0;             ///< of one element's data
  std::ptrdiff_t extent = 0;  ///< from one element to the next
  bool dense = true;  ///< any number of elements form one piece that begins where the first does
  MPI_Datatype handle = {};
  std::uint64_t serial = 0;  ///< unique among all types that ever existed
  const DatatypePointer* type = nullptr;
  std::int64_t first = 0;  ///< from an element's position to its lowest byte
};

/// The object behind a constructed type's handle. Its memory stays, so a freed type is recognised.
struct TypeObject {
  static constexpr std::uint32_t alive = 0x54595031, dead = 0x54595030;
  std::uint32_t magic = alive;
  bool committed = false;
  DatatypePointer type;
  TypeView view;
  std::string name;
  AttributeSet<MPI_Datatype> attributes;
};
/// A handle for the type, not committed yet.
MPI_Datatype new_type(DatatypePointer type, bool committed = false);
/// Throws Failure(MPI_ERR_TYPE) for predefined types and invalid handles.
TypeObject& made_type(MPI_Datatype handle);
/// By index_of_predefined(); without a type for an unknown index.
using PredefinedViews = std::array<TypeView, predefined_types>;
PredefinedViews predefined_views();
/// type_view() of any other handle.
const TypeView& made_type_view(MPI_Datatype type, bool must_be_committed);
/// Throws Failure(MPI_ERR_TYPE) for invalid handles, and for uncommitted types that are to be used.
[[gnu::always_inline]] inline const TypeView& type_view(MPI_Datatype type,
                                                        bool must_be_committed = true) {
  static const PredefinedViews views = predefined_views();
  const std::size_t index = index_of_predefined(type);
  if (index < views.size() && views[index].type != nullptr) return views[index];
  return made_type_view(type, must_be_committed);
}

/// Copies between elements in memory and a packed buffer. \param bytes  to unpack: as many as
/// arrived
inline void pack(const Datatype& type, const void* elements, Bytes bytes, std::byte* to) {
  if (bytes > 0) type.pack(elements, 0, {to, bytes});
}
inline void unpack(const Datatype& type, const std::byte* from, Bytes bytes, void* elements) {
  if (bytes > 0) type.unpack(elements, 0, {from, bytes});
}

}  // namespace wormcube::mpi
