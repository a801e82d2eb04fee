// The checks of a transform in parts.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/fft/parts.hpp"

#include "wormcube/apps/common/random.hpp"
#include "wormcube/apps/fft/verify.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <numeric>

namespace wormcube::apps {

namespace {

using Long = std::complex<long double>;

template <std::size_t count>
std::array<long double, count> sums(const Runner& runner,
                                    const std::array<long double, count>& mine) {
  std::array<long double, count> total{};
  for (const auto& of_process : of_all_processes(runner, mine)) {
    for (std::size_t i = 0; i < count; ++i) total[i] += of_process[i];
  }
  return total;
}

/// The exponent of two of the largest value of all processes.
int common_exponent(const Runner& runner, std::span<const Complex> values) {
  return exponent_above(maximum(runner, largest_component(values)));
}

double root_ratio(long double error, long double whole) {
  return error == 0 ? 0 : static_cast<double>(std::sqrt(error / whole));
}

/// The powers of exp(-2 pi i / order), as in Roots, in extended precision.
class LongRoots {
 public:
  explicit LongRoots(std::size_t order) {
    while ((std::size_t{1} << 2 * shift_) < order) ++shift_;
    const auto power = [&](std::size_t t) {
      return std::polar(1.0L, -2 * std::numbers::pi_v<long double> * static_cast<long double>(t) /
                                  static_cast<long double>(order));
    };
    for (std::size_t t = 0; t < std::size_t{1} << shift_; ++t) fine_.push_back(power(t));
    for (std::size_t t = 0; t < order; t += std::size_t{1} << shift_) coarse_.push_back(power(t));
  }
  Long operator()(std::size_t t) const {
    const Long a = coarse_[t >> shift_], b = fine_[t & (fine_.size() - 1)];
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

 private:
  unsigned shift_ = 0;
  std::vector<Long> fine_, coarse_;
};

/// The contribution of a part of the signal to a bin.
Long sum_of_part(std::size_t columns, const LongRoots& by_row, const LongRoots& by_column,
                 std::size_t rows, std::size_t bin, Direction direction, std::size_t first,
                 std::span<const Complex> signal) {
  const std::size_t down = bin / columns, along = bin % columns;
  const auto turned = [&](Long root) {
    return direction == Direction::forward ? root : std::conj(root);
  };
  Long sum = 0;
  for (std::size_t at = 0; at < signal.size();) {
    const std::size_t row = (first + at) / columns, column = (first + at) % columns;
    const std::size_t count = std::min(columns - column, signal.size() - at);
    Long of_row = 0;
    std::size_t phase = column * along % columns;
    for (const Complex value : signal.subspan(at, count)) {
      const Long root = turned(by_column(phase));
      of_row += Long(value.real() * root.real() - value.imag() * root.imag(),
                     value.real() * root.imag() + value.imag() * root.real());
      phase += along;
      if (phase >= columns) phase -= columns;
    }
    sum += of_row * turned(by_row(row * down % rows));
    at += count;
  }
  return sum;
}

}  // namespace

double relative_error(const Runner& runner, std::span<const Complex> got,
                      std::span<const Complex> wanted) {
  const int exponent = common_exponent(runner, wanted);
  std::array<long double, 2> mine{0, energy(wanted, exponent)};
  std::array<Complex, 1024> difference;
  const std::size_t both = std::min(got.size(), wanted.size());
  for (std::size_t at = 0; at < both; at += difference.size()) {
    const std::size_t count = std::min(difference.size(), both - at);
    for (std::size_t i = 0; i < count; ++i) difference[i] = got[at + i] - wanted[at + i];
    mine[0] += energy(std::span(difference).first(count), exponent);
  }
  if (got.size() != wanted.size()) mine[0] = std::numeric_limits<long double>::quiet_NaN();
  const auto [error, whole] = sums(runner, mine);
  return root_ratio(error, whole);
}

double parseval_error(const Runner& runner, std::size_t elements, std::span<const Complex> signal,
                      std::span<const Complex> spectrum) {
  const int exponent = common_exponent(runner, spectrum);
  const auto [of_signal, of_spectrum] =
      sums<2>(runner, {energy(signal, exponent), energy(spectrum, exponent)});
  const long double wanted = static_cast<long double>(elements) * of_signal;
  const long double error = std::abs(of_spectrum - wanted);
  return error == 0 ? 0 : static_cast<double>(error / wanted);
}

double bins_error(const Runner& runner, std::span<const std::size_t> shape, Direction direction,
                  Part in, std::span<const Complex> signal, Part out,
                  std::span<const Complex> spectrum) {
  constexpr std::size_t bins = 8;
  const std::size_t columns = shape.back(), rows = shape.size() == 2 ? shape.front() : 1;
  const std::size_t elements = rows * columns;
  const LongRoots by_row(rows), by_column(columns);
  const int exponent = common_exponent(runner, signal);
  std::array<long double, 4 * bins + 1> mine{};
  SplitMix random(elements);
  for (std::size_t b = 0; b < bins; ++b) {
    const std::size_t bin = random.next() % elements;
    const Long sum =
        sum_of_part(columns, by_row, by_column, rows, bin, direction, in.first, signal);
    mine[4 * b] = sum.real();
    mine[4 * b + 1] = sum.imag();
    if (bin < out.first || bin >= out.end()) continue;
    mine[4 * b + 2] = spectrum[bin - out.first].real();
    mine[4 * b + 3] = spectrum[bin - out.first].imag();
  }
  mine[4 * bins] = energy(signal, exponent);
  const auto total = sums(runner, mine);
  const long double divisor =
      direction == Direction::forward ? 1 : static_cast<long double>(elements);
  long double error = 0;
  for (std::size_t b = 0; b < bins; ++b) {
    const Long wanted = Long(total[4 * b], total[4 * b + 1]) / divisor;
    error += std::norm((Long(total[4 * b + 2], total[4 * b + 3]) - wanted) * divisor);
  }
  // Both in units of the signal's largest value.
  return root_ratio(std::scalbn(error / bins, -2 * exponent), total[4 * bins]);
}

}  // namespace wormcube::apps
