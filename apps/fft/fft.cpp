// Fourier transforms of an array that is distributed over the nodes: six-step, Bluestein, 2-D.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/fft/fft.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <new>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

// The phases of a transform on one node, on one distributed matrix at a time.
class Phases {
 public:
  Phases(Node& node, const Exchange& exchange, const FftPlan& plan)
      : node_(node),
        exchange_(exchange),
        plan_(plan),
        there_(plan.matrix()),
        back_(there_.transposed()) {}

  // X[k1 + n1 k2], k2 fastest, in rows k1, from x[n2 j1 + j2] in rows j1. Without scaling.
  void to_spectrum(Direction direction, Span data) const {
    transpose(node_, exchange_, there_, data);
    begin_rows(back_);
    computes_products(back_);
    node_.local([&] {
      rows(back_, direction, data);
      twiddle(back_, direction, data);
    });
    transpose(node_, exchange_, back_, data);
    begin_rows(there_);
    node_.local([&] { rows(there_, direction, data); });
  }

  // The reverse order: from X[k1 + n1 k2] in rows k1 to x[n2 j1 + j2] in rows j1.
  void from_spectrum(Direction direction, Span data) const {
    begin_rows(there_);
    computes_products(there_);
    node_.local([&] {
      rows(there_, direction, data);
      twiddle(there_, direction, data);
    });
    transpose(node_, exchange_, there_, data);
    begin_rows(back_);
    node_.local([&] { rows(back_, direction, data); });
    transpose(node_, exchange_, back_, data);
  }

  void six_step(Direction direction, Span data) const {
    to_spectrum(direction, data);
    transpose(node_, exchange_, there_, data);  // rows k2: natural order
    scale(direction, data);
  }

  void two_dimensional(Direction direction, Span data) const {
    begin_rows(there_);
    node_.local([&] { rows(there_, direction, data); });
    transpose(node_, exchange_, there_, data);
    begin_rows(back_);
    node_.local([&] { rows(back_, direction, data); });
    transpose(node_, exchange_, back_, data);
    scale(direction, data);
  }

  // nk = (n^2 + k^2 - (k-n)^2) / 2: with the chirp c[n] = exp(-+ i pi n^2 / N) the transform is X =
  // c (c x * conj c). The convolution works with spectra in any order, so it omits the
  // transpositions that would give natural order.
  void bluestein(Direction direction, Span data) const {
    const Memory kernel = node_.memory(plan_.buffer_bytes(node_.rank()));
    node_.phase("chirps");
    computes_products(there_, 2);
    node_.local([&] {
      fill_chirps(direction, kernel);
      times_chirps(direction, data, 1);
    });
    to_spectrum(Direction::forward, kernel);
    to_spectrum(Direction::forward, data);
    node_.phase("product of spectra");
    computes_products(there_);
    node_.local([&] {
      const std::span<const Complex> factor = matrix_rows(there_, kernel);
      const std::span<Complex> product = matrix_rows(there_, data);
      std::ranges::transform(product, factor, product.begin(), multiply);
    });
    from_spectrum(Direction::backward, data);
    const auto length = static_cast<double>(there_.rows * there_.columns);
    const auto elements = static_cast<double>(plan_.elements());
    const double divisor = direction == Direction::backward ? length * elements : length;
    node_.phase("chirps");
    computes_products(there_);
    node_.local([&] { times_chirps(direction, data, 1 / divisor); });
  }

 private:
  // A separate phase, priced: a transform of n elements is 5 n log2 n operations, in one pass
  // over the rows.
  void begin_rows(const MatrixShape& matrix) const {
    node_.phase("transforms of rows");
    const double elements = own_elements(matrix), length = static_cast<double>(matrix.columns);
    constexpr double of_butterflies = 5;
    node_.computes(of_butterflies * elements * std::log2(std::max(length, 1.0)),
                   read_and_written * elements * sizeof(Complex));
  }
  // Complex products of elements: 6 operations each.
  void computes_products(const MatrixShape& matrix, int times = 1) const {
    constexpr double of_product = 6;
    const double elements = times * own_elements(matrix);
    node_.computes(of_product * elements, read_and_written * elements * sizeof(Complex));
  }
  double own_elements(const MatrixShape& matrix) const {
    return static_cast<double>(distribution(matrix).count(node_.rank())) *
           static_cast<double>(matrix.columns);
  }
  static constexpr double read_and_written = 2;

  Distribution distribution(const MatrixShape& matrix) const { return {matrix.rows, node_.size()}; }

  // This node's rows of the matrix.
  std::span<Complex> matrix_rows(const MatrixShape& matrix, Span data) const {
    auto* const first = std::launder(reinterpret_cast<Complex*>(data.data()));
    return {first, distribution(matrix).count(node_.rank()) * matrix.columns};
  }

  void rows(const MatrixShape& matrix, Direction direction, Span data) const {
    const std::span<Complex> mine = matrix_rows(matrix, data);
    plan_.local().run(matrix.columns, mine.size() / matrix.columns, direction, mine.data());
  }

  // Element (i, j) times the (i j)-th root of unity of order n1 n2.
  void twiddle(const MatrixShape& matrix, Direction direction, Span data) const {
    const std::span<Complex> mine = matrix_rows(matrix, data);
    std::size_t i = distribution(matrix).first(node_.rank());
    for (std::size_t at = 0; at < mine.size(); at += matrix.columns, ++i) {
      for (std::size_t j = 0; j < matrix.columns; ++j) {
        mine[at + j] = multiply(mine[at + j], plan_.twiddles()(i * j, direction));
      }
    }
  }

  void scale(Direction direction, Span data) const {
    if (direction == Direction::forward) return;
    const double factor = 1 / static_cast<double>(plan_.elements());
    const std::size_t count = plan_.output(node_.rank()).count;
    constexpr double of_scaling = 2;
    node_.phase("scaling");
    node_.computes(of_scaling * static_cast<double>(count),
                   read_and_written * static_cast<double>(count * sizeof(Complex)));
    node_.local([&] {
      auto* const mine = std::launder(reinterpret_cast<Complex*>(data.data()));
      for (std::size_t i = 0; i < count; ++i) mine[i] *= factor;
    });
  }

  Complex chirp(std::size_t n, Direction sign) const {
    return plan_.chirps()(n * n % plan_.chirps().order(), sign);
  }

  // The chirp's conjugate at distances -(N-1) .. N-1, cyclic in the convolution's length.
  void fill_chirps(Direction direction, Span kernel) const {
    const std::size_t elements = plan_.elements(), length = there_.rows * there_.columns;
    std::size_t n = distribution(there_).first(node_.rank()) * there_.columns;
    for (Complex& value : matrix_rows(there_, kernel)) {
      const std::size_t distance = std::min(n, length - n);
      value = distance < elements ? chirp(distance, opposite(direction)) : Complex{};
      ++n;
    }
  }

  // The elements below N times chirp and factor, 0 beyond.
  void times_chirps(Direction direction, Span data, double factor) const {
    const auto [first, count] = plan_.input(node_.rank());
    const std::span<Complex> mine = matrix_rows(there_, data);
    for (std::size_t i = 0; i < count; ++i) {
      mine[i] = multiply(mine[i], factor * chirp(first + i, direction));
    }
    std::ranges::fill(mine.subspan(count), Complex{});
  }

  Node& node_;
  const Exchange& exchange_;
  const FftPlan& plan_;
  MatrixShape there_, back_;
};

}  // namespace

void fft(Node& node, const Exchange& exchange, const FftPlan& plan, Direction direction,
         Span data) {
  if (data.size() < plan.buffer_bytes(node.rank())) {
    throw UsageError(fmt::format("fft: node {} has {} bytes for its elements, needs {}",
                                 node.rank(), data.size(), plan.buffer_bytes(node.rank())));
  }
  const Phases phases(node, exchange, plan);
  if (!plan.is_1d()) return phases.two_dimensional(direction, data);
  if (plan.method() == FftMethod::six_step) return phases.six_step(direction, data);
  phases.bluestein(direction, data);
}

}  // namespace wormcube::apps
