// Datatypes as calls name them: handles, and what messages need of a type.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/functions.h"
#include "wormcube/apps/mpi/engine/base/attributes.hpp"
#include "wormcube/apps/mpi/engine/types/datatype.hpp"
#include "wormcube/runtime/node/op.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace wormcube::mpi {

/// What is known of a type that a call names; valid while the handle is.
struct TypeView {
  Bytes size = 0;             ///< of the data of one element
  std::ptrdiff_t extent = 0;  ///< from one element to the next
  bool dense = true;  ///< any number of elements are one piece that begins where the first does
  MPI_Datatype handle = {};
  std::uint64_t serial = 0;  ///< of no other type that ever was
  const DatatypePointer* type = nullptr;
  std::int64_t first = 0;  ///< from where an element is to its lowest byte
};

/// What the handle of a made type points to. Its memory stays, so that a freed one is recognised.
struct TypeObject {
  static constexpr std::uint32_t alive = 0x54595031, dead = 0x54595030;
  std::uint32_t magic = alive;
  bool committed = false;
  DatatypePointer type;
  TypeView view;
  std::string name;
  AttributeSet<MPI_Datatype> attributes;
};
/// A handle for it, not committed yet.
MPI_Datatype new_type(DatatypePointer type, bool committed = false);
/// Throws Failure(MPI_ERR_TYPE) for predefined ones, and what is none.
TypeObject& made_type(MPI_Datatype handle);
/// Throws Failure(MPI_ERR_TYPE) for what is no type, or, where it is to be used, not committed.
const TypeView& type_view(MPI_Datatype type, bool must_be_committed = true);

/// Between elements in memory and bytes in a row. \param bytes  to unpack: as many as have come
inline void pack(const Datatype& type, const void* elements, Bytes bytes, std::byte* to) {
  if (bytes > 0) type.pack(elements, 0, {to, bytes});
}
inline void unpack(const Datatype& type, const std::byte* from, Bytes bytes, void* elements) {
  if (bytes > 0) type.unpack(elements, 0, {from, bytes});
}

}  // namespace wormcube::mpi
