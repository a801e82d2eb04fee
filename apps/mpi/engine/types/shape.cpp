// Signatures and shapes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/types/shape.hpp"

#include <algorithm>
#include <utility>

namespace wormcube::mpi {
namespace {

__extension__ using Wide = unsigned __int128;

// A polynomial of the elements' numbers modulo a prime.
constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1, radix = 0x1b0f'5c2a'9e37'79b9 % prime;

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(Wide{a} * b % prime);
}

}  // namespace

Signature signature_of(MPI_Datatype handle) {
  return {reinterpret_cast<std::uintptr_t>(handle), radix, 1, handle == MPI_PACKED};
}

Signature joined(const Signature& first, const Signature& second) {
  return {(times(first.hash, second.power) + second.hash) % prime, times(first.power, second.power),
          first.elements + second.elements, first.has_packed || second.has_packed};
}

Signature repeated(std::int64_t count, const Signature& signature) {
  Signature result, doubled = signature;
  for (; count > 0; count /= 2) {
    if (count % 2 != 0) result = joined(result, doubled);
    doubled = joined(doubled, doubled);
  }
  return result;
}

TypeShape shifted(TypeShape shape, std::int64_t offset) {
  shape.lower += offset;
  shape.upper += offset;
  if (shape.bytes > 0) {
    shape.true_lower += offset;
    shape.true_upper += offset;
    shape.layout.offset += offset;
  }
  return shape;
}

TypeShape repeated_shape(std::int64_t count, std::int64_t stride, const TypeShape& shape) {
  if (count == 0 || shape.is_empty) {
    TypeShape nothing;
    nothing.alignment = shape.alignment;
    return nothing;
  }
  TypeShape result = shape;
  const std::int64_t last = (count - 1) * stride, least = std::min<std::int64_t>(last, 0),
                     most = std::max<std::int64_t>(last, 0);
  result.bytes *= count;
  result.lower += least;
  result.upper += most;
  if (shape.bytes > 0) {
    result.true_lower += least;
    result.true_upper += most;
  }
  result.layout = Layout::repeat(count, stride, shape.layout);
  result.signature = repeated(count, shape.signature);
  return result;
}

void JoinedShape::add(const TypeShape& shape) {
  result_.alignment = std::max(result_.alignment, shape.alignment);
  if (shape.is_empty) return;
  if (shape.bytes > 0) {
    const bool is_first = result_.bytes == 0;
    result_.true_lower =
        is_first ? shape.true_lower : std::min(result_.true_lower, shape.true_lower);
    result_.true_upper =
        is_first ? shape.true_upper : std::max(result_.true_upper, shape.true_upper);
  }
  if (result_.is_empty || (shape.has_set_bounds && !result_.has_set_bounds)) {
    result_.lower = shape.lower;
    result_.upper = shape.upper;
  } else if (shape.has_set_bounds == result_.has_set_bounds) {
    result_.lower = std::min(result_.lower, shape.lower);
    result_.upper = std::max(result_.upper, shape.upper);
  }
  result_.has_set_bounds = result_.has_set_bounds || shape.has_set_bounds;
  result_.is_empty = false;
  result_.bytes += shape.bytes;
  result_.signature = joined(result_.signature, shape.signature);
  layouts_.push_back(shape.layout);
}

TypeShape JoinedShape::finish() && {
  result_.layout = Layout::list(std::move(layouts_));
  return std::move(result_);
}

TypeShape with_bounds(TypeShape shape, std::int64_t lower, std::int64_t extent) {
  shape.lower = lower;
  shape.upper = lower + extent;
  shape.has_set_bounds = true;
  return shape;
}

}  // namespace wormcube::mpi
