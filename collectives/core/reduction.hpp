// Reduction operators: what allreduce, reduce, reduce_scatter and the scans combine with.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/node/node.hpp"

#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wormcube {

/// An elementwise, associative operator. It need not be commutative and has no neutral element:
/// algorithms combine neighbouring ranges of ranks only, the lower ranks on the left.
struct Reduction {
  std::string name = {};
  Bytes element_bytes = 1;
  bool commutative = false;
  /// result[i] = left[i] (+) right[i]; result is left or right, or overlaps neither. The pointers
  /// need not be aligned.
  std::function<void(const std::byte* left, const std::byte* right, std::byte* result,
                     std::size_t elements)>
      apply = {};
  std::string type = {};  ///< "int32"; for messages
  /// Writes test data (stream i: node i's) on which the operator is exact in any bracketing: runs
  /// compare bit by bit. Empty: any bytes will do.
  std::function<void(std::uint64_t stream, Span data)> operands = {};
  /// Any bracketing of any operands gives the same bits, as for integers. Otherwise, for rounded
  /// numbers, nodes that bracket differently may end with different bits.
  bool exact = false;
};

/// An operator from a callable: T(T, T) for any trivially copyable T.
template <class T, class F>
Reduction elementwise(std::string name, F combine, bool commutative) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {std::move(name),
          sizeof(T),
          commutative,
          [combine = std::move(combine)](const std::byte* left, const std::byte* right,
                                         std::byte* result, std::size_t elements) {
            for (std::size_t i = 0; i < elements; ++i) {
              T a, b;
              std::memcpy(&a, left + i * sizeof(T), sizeof(T));
              std::memcpy(&b, right + i * sizeof(T), sizeof(T));
              const T both = combine(a, b);
              std::memcpy(result + i * sizeof(T), &both, sizeof(T));
            }
          },
          {},
          {},
          false};
}

/// The same, for a commutative operator.
inline Reduction exact(Reduction reduction) {
  reduction.exact = true;
  return reduction;
}

/// result := left (+) right, charged as combining. All have the same size, whole elements; result
/// may be left or right.
void combine(Node& node, const Reduction& reduction, ConstSpan left, ConstSpan right, Span result);

/// Ranks first .. last-1 have been combined, in this order, in element `index` of block `block`.
/// Joining intervals that are not neighbours gives a value that no right result has. So a wrong
/// order, a missing and a doubled contribution are all detected, whatever the real operator hides.
struct Interval {
  std::int32_t first = 0, last = 0;
  std::uint32_t block = 0, index = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};
/// The order-tracking operator: not commutative, exact.
const Reduction& interval_reduction();

/// The built-in operators: `sum product min max and or xor` on `int32 int64 uint8 float double
/// complex` (min and max not on complex; and, or, xor on integers), and `compose` on `affine`
/// (maps x -> a x + b modulo 2^32, composed left to right: not commutative).
struct BuiltIn {
  std::string_view operation, type;
};
std::span<const BuiltIn> built_in_reductions();
/// Throws UsageError that lists the available ones.
Reduction find_reduction(std::string_view operation, std::string_view type);

}  // namespace wormcube
