// What every node knows about a transform before it starts: method, factors, distribution, local
// plans, roots of unity.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/fft/local.hpp"
#include "wormcube/apps/transpose/transpose.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wormcube::apps {

enum class FftMethod : std::uint8_t { automatic, six_step, bluestein };
/// `auto`, `six-step`, `bluestein`.
std::string_view to_string(FftMethod method);
/// Throws UsageError that lists them.
FftMethod parse_fft_method(std::string_view text);

struct FftOptions {
  bool inverse = false;                     ///< inverse, divided by the number of elements
  FftMethod method = FftMethod::automatic;  ///< for a 1-D transform
  /// FFTW times its plans (FFTW_MEASURE) instead of guessing (FFTW_ESTIMATE).
  bool measure = false;
  /// Six-step in reverse: takes what a plan without it returns, and returns what that takes.
  bool turned = false;
};

/// The product of the sizes. Throws UsageError unless the shape is {N} or {R, C}, at least 1 each,
/// at most 2^31 elements.
std::size_t count_elements(std::span<const std::size_t> shape);

/// The two factors of n that are closest to each other, the smaller first.
std::pair<std::size_t, std::size_t> balanced_factors(std::size_t n);

/// Two numbers without prime factors above 5, at most a factor of 2 apart, whose product is at
/// least n and as small as that allows; the smaller first.
std::pair<std::size_t, std::size_t> smooth_factors(std::size_t n);

/// A transform of one shape on a number of nodes, for both directions. Created on the host, then
/// read-only.
///
/// 2-D: an R x C array, distributed by rows. 1-D: the N elements are the rows of an n1 x n2 matrix:
/// - six-step, N = n1 n2: balanced factors, so at most min(n1, n2) nodes have work in every phase.
///   The input is distributed by rows of the n1 x n2 matrix and the output by rows of the n2 x n1
///   one, both in natural order.
/// - bluestein: a convolution of length n1 n2 >= 2N-1, which has good factors for any N. Input and
///   output are distributed by rows of the n1 x n2 matrix, as far as they are below N.
///
/// `auto` picks six-step if more than half of the nodes have rows in every phase, else bluestein.
class FftPlan {
 public:
  /// \param shape  {N} or {R, C}, at least 1 each
  /// Throws UsageError for another shape or method.
  FftPlan(std::vector<std::size_t> shape, const FftOptions& options, Rank nodes);

  const std::vector<std::size_t>& shape() const { return shape_; }
  std::size_t elements() const { return elements_; }
  bool is_1d() const { return shape_.size() == 1; }
  FftMethod method() const { return method_; }  ///< of a 1-D transform: what `automatic` became
  /// "six-step, 2820 = 47 x 60".
  std::string description() const;
  Rank busy_nodes() const;  ///< that have rows in every phase

  std::size_t n1() const { return matrix_.rows; }     ///< or R
  std::size_t n2() const { return matrix_.columns; }  ///< or C
  MatrixShape matrix() const { return matrix_; }
  /// The shapes of the transpositions in one run.
  std::vector<MatrixShape> transpositions() const;

  struct Slice {
    std::size_t first, count;
  };
  Slice input(Rank node) const { return slice(matrix_, node); }
  Slice output(Rank node) const;
  /// The buffer that fft() needs for a node's elements.
  Bytes buffer_bytes(Rank node) const { return matrix_.buffer_bytes(node, nodes_); }

  const LocalTransforms& local() const { return local_; }
  const Roots& twiddles() const { return twiddles_; }  ///< of order n1 n2; 1-D only
  const Roots& chirps() const { return chirps_; }      ///< of order 2N; bluestein only

 private:
  Slice slice(const MatrixShape& matrix, Rank node) const;

  std::vector<std::size_t> shape_;
  std::size_t elements_;
  Rank nodes_;
  FftMethod method_;
  MatrixShape matrix_;
  LocalTransforms local_;
  Roots twiddles_, chirps_;
};

}  // namespace wormcube::apps
