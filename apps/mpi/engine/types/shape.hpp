// The shape of a type: its bytes, bounds and elements, and how shapes are combined.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/functions.h"
#include "wormcube/apps/mpi/engine/types/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wormcube::mpi {

/// The sequence of a message's predefined types, as a number: equal sequences have equal numbers,
/// however they were built; different ones almost never do.
struct Signature {
  std::uint64_t hash = 0;
  std::uint64_t power = 1;    ///< the factor for the hash of everything before it
  std::int64_t elements = 0;  ///< predefined ones; a pair counts as two
  bool has_packed = false;    ///< PACKED matches everything
  friend bool operator==(const Signature&, const Signature&) = default;
};
Signature joined(const Signature& first, const Signature& second);
Signature repeated(std::int64_t count, const Signature& signature);

/// What a type map says about the memory around its data.
struct TypeShape {
  std::int64_t bytes = 0;                       ///< of data
  std::int64_t lower = 0, upper = 0;            ///< bounds
  std::int64_t true_lower = 0, true_upper = 0;  ///< of the data alone
  bool is_empty = true;         ///< no element of any type, so bounds have no meaning
  bool has_set_bounds = false;  ///< set by resized and similar constructors: only these count
  int alignment = 1;
  PlacedLayout layout = {};
  Signature signature = {};
};

/// The shape of a predefined element.
Signature signature_of(MPI_Datatype handle);

TypeShape with_bounds(TypeShape shape, std::int64_t lower, std::int64_t extent);

// All type constructors are built from these.

TypeShape shifted(TypeShape shape, std::int64_t offset);
/// `count` times, each `stride` bytes after the one before.
TypeShape repeated_shape(std::int64_t count, std::int64_t stride, const TypeShape& shape);
/// One after another, each where it is. If bounds were set, only those count.
class JoinedShape {
 public:
  void reserve(std::size_t parts) { layouts_.reserve(parts); }
  void add(const TypeShape& shape);
  TypeShape finish() &&;

 private:
  TypeShape result_;
  std::vector<PlacedLayout> layouts_;
};

}  // namespace wormcube::mpi
