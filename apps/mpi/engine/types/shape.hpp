// The shape of a type: what it has of bytes, bounds and elements; how shapes are made of others.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/abi/functions.h"
#include "wormcube/apps/mpi/engine/types/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wormcube::mpi {

/// The sequence of predefined types of a message, as a number: equal sequences have equal numbers,
/// however they were built; others almost never.
struct Signature {
  std::uint64_t hash = 0;
  std::uint64_t power = 1;    ///< what the hash of whatever stands before is multiplied by
  std::int64_t elements = 0;  ///< predefined ones; a pair has two
  bool has_packed = false;    ///< PACKED matches everything
  friend bool operator==(const Signature&, const Signature&) = default;
};
Signature joined(const Signature& first, const Signature& second);
Signature repeated(std::int64_t count, const Signature& signature);

/// What a type map says of the memory around its data.
struct TypeShape {
  std::int64_t bytes = 0;                       ///< of data
  std::int64_t lower = 0, upper = 0;            ///< bounds
  std::int64_t true_lower = 0, true_upper = 0;  ///< of the data alone
  bool is_empty = true;         ///< no element of any type at all, so that bounds mean nothing
  bool has_set_bounds = false;  ///< by resized and its like: they alone count
  int alignment = 1;
  PlacedLayout layout = {};
  Signature signature = {};
};

/// Of a predefined element.
Signature signature_of(MPI_Datatype handle);

TypeShape with_bounds(TypeShape shape, std::int64_t lower, std::int64_t extent);

// All constructors of types are made of these.

TypeShape shifted(TypeShape shape, std::int64_t offset);
/// `count` times, each `stride` bytes behind the one before.
TypeShape repeated_shape(std::int64_t count, std::int64_t stride, const TypeShape& shape);
/// One after the other, each where it is. Bounds that were set are the only ones that count.
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
