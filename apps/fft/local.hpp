// Transforms within one node: rows by FFTW, planned in advance, and exact roots of unity.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/io/complex.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

struct fftw_plan_s;

namespace wormcube::apps {

enum class Direction : std::int8_t { forward = -1, backward = 1 };  // the sign of the exponent

constexpr Direction opposite(Direction direction) {
  return direction == Direction::forward ? Direction::backward : Direction::forward;
}

/// FFTW's plans for all row transforms of a program, one per (length, rows, direction).
///
/// Threads  prepare() on the host, before the run; run() from any node.
class LocalTransforms {
 public:
  /// \param measure  FFTW times its plans (FFTW_MEASURE) instead of guessing (FFTW_ESTIMATE)
  explicit LocalTransforms(bool measure) : measure_(measure) {}

  /// Plans the transform of `rows` rows of `length` elements, in both directions, if not yet done.
  void prepare(std::size_t length, std::size_t rows);
  /// Transforms consecutive rows, in place, without scaling. The shape must be prepared.
  void run(std::size_t length, std::size_t rows, Direction direction, Complex* data) const;

 private:
  struct Destroy {
    void operator()(fftw_plan_s* plan) const;
  };
  std::map<std::tuple<std::size_t, std::size_t, Direction>, std::unique_ptr<fftw_plan_s, Destroy>>
      plans_;
  bool measure_;
};

/// One serial transform on the host, by FFTW, without scaling. Returns seconds, without planning.
/// \param shape  {N} or {R, C}
double transform_serially(std::span<const std::size_t> shape, Direction direction,
                          std::span<Complex> data);

/// FFTW by its own name: "fftw-3.3.10-sse2-avx".
std::string_view local_transforms_library();

/// Bytes of tables and buffers that FFTW takes for a transform, besides its elements: those of a
/// convolution, if a large prime factor needs one.
double convolution_bytes(std::size_t length);

/// exp(2 pi i t / order), rounded once: integers reduce the angle to an eighth of the circle.
Complex root_of_unity(std::uint64_t t, std::uint64_t order);

/// The powers of exp(2 pi i / order) from two tables of about the square root of the order: one
/// product per power.
class Roots {
 public:
  Roots() = default;
  explicit Roots(std::uint64_t order);
  std::uint64_t order() const { return order_; }
  /// exp(sign 2 pi i t / order) for t < order.
  Complex operator()(std::uint64_t t, Direction sign) const {
    const Complex root = multiply(coarse_[t >> shift_], fine_[t & (fine_.size() - 1)]);
    return sign == Direction::backward ? root : std::conj(root);
  }

 private:
  std::uint64_t order_ = 0;
  unsigned shift_ = 0;
  std::vector<Complex> fine_, coarse_;  // powers 0, 1, .. and 0, 2^shift, 2 2^shift, ..
};

}  // namespace wormcube::apps
