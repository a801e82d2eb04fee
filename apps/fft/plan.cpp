// Chooses how to transform: the method of a 1-D transform, its factors, its tables.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/fft/plan.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace wormcube::apps {

namespace {

constexpr std::array<std::pair<FftMethod, std::string_view>, 3> methods{
    {{FftMethod::automatic, "auto"},
     {FftMethod::six_step, "six-step"},
     {FftMethod::bluestein, "bluestein"}}};

// Squares of indices stay below 2^64, and 16 bytes for each element within any computer's memory.
constexpr std::size_t most_elements = std::size_t{1} << 31;

FftMethod choose(const std::vector<std::size_t>& shape, FftMethod method, Rank nodes) {
  if (shape.size() == 2) {
    if (method == FftMethod::automatic) return method;
    throw UsageError(fmt::format(
        "fft: method {} is for 1-D transforms; a 2-D one has rows and columns", to_string(method)));
  }
  if (method != FftMethod::automatic) return method;
  // Bluestein's takes two transforms of twice the length, four times the work, and FFTW does the
  // same if a node's own length is prime. It pays off if more than twice as many nodes share it.
  const auto all = static_cast<std::size_t>(nodes);
  const std::size_t busy = std::min(balanced_factors(shape[0]).first, all);
  const std::size_t busy_convolving = std::min(smooth_factors(2 * shape[0] - 1).first, all);
  return busy_convolving > 2 * busy ? FftMethod::bluestein : FftMethod::six_step;
}

MatrixShape matrix_of(const std::vector<std::size_t>& shape, FftMethod method) {
  if (shape.size() == 2) return {shape[0], shape[1], sizeof(Complex)};
  const auto [n1, n2] = method == FftMethod::bluestein ? smooth_factors(2 * shape[0] - 1)
                                                       : balanced_factors(shape[0]);
  return {n1, n2, sizeof(Complex)};
}

}  // namespace

std::size_t count_elements(std::span<const std::size_t> shape) {
  if (shape.empty() || shape.size() > 2 ||
      std::ranges::find(shape, std::size_t{0}) != shape.end()) {
    throw UsageError(
        fmt::format("fft: shape {}; need a length N or R x C, at least 1 each",
                    shape.empty() ? "()" : fmt::format("{}", fmt::join(shape, " x "))));
  }
  std::size_t elements = 1;
  for (const std::size_t size : shape) {
    if (size > most_elements / elements) {
      throw UsageError(fmt::format("fft: shape {} has more than {} elements",
                                   fmt::join(shape, " x "), most_elements));
    }
    elements *= size;
  }
  return elements;
}

std::string_view to_string(FftMethod method) {
  return std::ranges::find(methods, method, &std::pair<FftMethod, std::string_view>::first)->second;
}

FftMethod parse_fft_method(std::string_view text) {
  for (const auto& [method, name] : methods) {
    if (name == text) return method;
  }
  throw UsageError(
      fmt::format("unknown fft method '{}'; available: auto, six-step, bluestein", text));
}

std::pair<std::size_t, std::size_t> balanced_factors(std::size_t n) {
  std::size_t smaller = 1;
  for (std::size_t d = 1; d * d <= n; ++d) {
    if (n % d == 0) smaller = d;
  }
  return {smaller, n / smaller};
}

std::pair<std::size_t, std::size_t> smooth_factors(std::size_t n) {
  const auto most = static_cast<std::size_t>(2 * std::sqrt(static_cast<double>(n))) + 2;
  // With prime factors 2, 3, 5, up to the first power of two above `most`.
  std::set<std::size_t> smooth{1};
  for (const std::size_t number : smooth) {  // grows ahead of the loop, which goes up
    for (const std::size_t prime : {2U, 3U, 5U}) {
      if (number < most) smooth.insert(prime * number);
    }
  }
  std::pair<std::size_t, std::size_t> best{0, 0};
  for (const std::size_t a : smooth) {
    const auto b = smooth.lower_bound(std::max(a, (n + a - 1) / a));
    if (b == smooth.end() || *b > 2 * a) continue;
    // Of equal products the later one is the more balanced.
    if (best.first == 0 || a * *b <= best.first * best.second) best = {a, *b};
  }
  return best;
}

FftPlan::FftPlan(std::vector<std::size_t> shape, const FftOptions& options, Rank nodes)
    : shape_(std::move(shape)),
      elements_(count_elements(shape_)),
      nodes_(nodes),
      method_(choose(shape_, options.method, nodes)),
      matrix_(options.turned && is_1d() && method_ == FftMethod::six_step
                  ? matrix_of(shape_, method_).transposed()
                  : matrix_of(shape_, method_)),
      local_(options.measure) {
  for (const MatrixShape& matrix : {matrix_, matrix_.transposed()}) {
    const Distribution rows{matrix.rows, nodes};
    local_.prepare(matrix.columns, rows.count(0));
    local_.prepare(matrix.columns, rows.count(nodes - 1));
  }
  if (is_1d()) twiddles_ = Roots(matrix_.rows * matrix_.columns);
  if (method_ == FftMethod::bluestein) chirps_ = Roots(2 * elements_);
}

std::string FftPlan::description() const {
  if (!is_1d()) return fmt::format("2-D, {} x {}: rows, transpose, columns, transpose", n1(), n2());
  if (method_ == FftMethod::bluestein) {
    return fmt::format("bluestein, convolution length {} = {} x {}", n1() * n2(), n1(), n2());
  }
  return fmt::format("six-step, {} = {} x {}", elements_, n1(), n2());
}

Rank FftPlan::busy_nodes() const {
  return static_cast<Rank>(std::min({n1(), n2(), static_cast<std::size_t>(nodes_)}));
}

std::vector<MatrixShape> FftPlan::transpositions() const {
  const MatrixShape there = matrix_, back = matrix_.transposed();
  if (!is_1d()) return {there, back};
  if (method_ == FftMethod::bluestein) return {there, back, there, back, there, back};
  return {there, back, there};
}

FftPlan::Slice FftPlan::output(Rank node) const {
  const bool turned = is_1d() && method_ == FftMethod::six_step;
  return slice(turned ? matrix_.transposed() : matrix_, node);
}

FftPlan::Slice FftPlan::slice(const MatrixShape& matrix, Rank node) const {
  const Distribution rows{matrix.rows, nodes_};
  const std::size_t first = std::min(rows.first(node) * matrix.columns, elements_);
  const std::size_t end =
      std::min((rows.first(node) + rows.count(node)) * matrix.columns, elements_);
  return {first, end - first};
}

}  // namespace wormcube::apps
