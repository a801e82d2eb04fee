// The checks of a transform.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/fft/verify.hpp"

#include "wormcube/apps/common/random.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <functional>
#include <limits>
#include <utility>

namespace wormcube::apps {

namespace {

double relative_to(double error, double scale) { return error == 0 ? 0 : error / scale; }

}  // namespace

double largest_component(std::span<const Complex> values) {
  double largest = 0;
  for (const Complex value : values) {
    largest = std::max({largest, std::abs(value.real()), std::abs(value.imag())});
  }
  return largest;
}

int exponent_above(double largest) {
  int exponent = 0;
  if (std::isfinite(largest)) std::frexp(largest, &exponent);
  return exponent;
}

long double energy(std::span<const Complex> values, int exponent) {
  long double sum = 0;
  for (const Complex value : values) {
    sum += std::norm(std::complex<long double>(std::scalbn(value.real(), -exponent),
                                               std::scalbn(value.imag(), -exponent)));
  }
  return sum;
}

double relative_error(std::span<const Complex> got, std::span<const Complex> wanted) {
  if (got.size() != wanted.size()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<Complex> difference(got.size());
  std::ranges::transform(got, wanted, difference.begin(), std::minus());
  const int exponent = exponent_above(largest_component(wanted));
  return relative_to(std::sqrt(static_cast<double>(energy(difference, exponent))),
                     std::sqrt(static_cast<double>(energy(wanted, exponent))));
}

double parseval_error(std::span<const Complex> signal, std::span<const Complex> spectrum) {
  if (signal.size() != spectrum.size()) return std::numeric_limits<double>::quiet_NaN();
  // One scale for both: the spectrum's, whose values are the larger ones.
  const int exponent = exponent_above(largest_component(spectrum));
  const long double wanted = static_cast<long double>(signal.size()) * energy(signal, exponent);
  const long double error = std::abs(energy(spectrum, exponent) - wanted);
  return error == 0 ? 0 : static_cast<double>(error / wanted);
}

int extreme_exponent(double largest) {
  // Doubles reach from 2^-1074 to 2^1024. Sums of 2^30 values, products of two transforms and
  // squares stay inside if the largest value is within 2^-300 and 2^300.
  constexpr int ordinary = 300;
  const int exponent = exponent_above(largest);
  return std::abs(exponent) > ordinary ? exponent : 0;
}

void scale(std::span<Complex> values, int exponent) {
  for (Complex& value : values) {
    value = {std::scalbn(value.real(), exponent), std::scalbn(value.imag(), exponent)};
  }
}

double rounding_unit(std::size_t elements) {
  return std::numeric_limits<double>::epsilon() *
         std::log2(static_cast<double>(std::max<std::size_t>(2, elements)));
}

double fft_tolerance(std::size_t elements, FftMethod method) {
  return (method == FftMethod::bluestein ? 10 : 5) * rounding_unit(elements);
}

ShiftAndImpulse::ShiftAndImpulse(std::vector<std::size_t> shape_, std::span<const Complex> signal,
                                 std::uint64_t seed)
    : shape(std::move(shape_)) {
  SplitMix random(seed);
  for (const std::size_t size : shape) {
    by.push_back(random.next() % size);
    place.push_back(random.next() % size);
  }
  strength = std::sqrt(static_cast<double>(energy(signal, 0)));
  if (strength == 0) strength = 1;
}

std::vector<Complex> ShiftAndImpulse::applied(std::span<const Complex> signal) const {
  const std::size_t columns = shape.back(), rows = signal.size() / columns;
  const std::size_t down = shape.size() == 2 ? by.front() : 0;
  std::vector<Complex> result(signal.size());
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = signal.begin() + static_cast<std::ptrdiff_t>(i * columns);
    const auto to = result.begin() + static_cast<std::ptrdiff_t>((i + down) % rows * columns);
    std::rotate_copy(row, row + static_cast<std::ptrdiff_t>(columns - by.back()),
                     row + static_cast<std::ptrdiff_t>(columns), to);
  }
  result[(shape.size() == 2 ? place.front() * columns : 0) + place.back()] += strength;
  return result;
}

double ShiftAndImpulse::error(std::span<const Complex> spectrum, std::span<const Complex> of_signal,
                              Direction direction) const {
  const std::size_t columns = shape.back(), rows = of_signal.size() / columns;
  const bool plane = shape.size() == 2;
  const Roots by_row(rows), by_column(columns);
  const double wave =
      direction == Direction::forward ? strength : strength / static_cast<double>(of_signal.size());
  std::vector<Complex> wanted(of_signal.size());
  for (std::size_t i = 0; i < rows; ++i) {
    const Complex turned = plane ? by_row(i * by.front() % rows, direction) : 1;
    const Complex from_row = plane ? by_row(i * place.front() % rows, direction) : 1;
    for (std::size_t j = 0; j < columns; ++j) {
      const std::size_t at = i * columns + j;
      const Complex turn = multiply(turned, by_column(j * by.back() % columns, direction));
      const Complex from = multiply(from_row, by_column(j * place.back() % columns, direction));
      wanted[at] = multiply(turn, of_signal[at]) + wave * from;
    }
  }
  return relative_error(spectrum, wanted);
}

SpectralPeak strongest_frequency(std::span<const Complex> spectrum) {
  SpectralPeak peak;
  const std::size_t n = spectrum.size(), bins = n / 2;
  if (n == 0) return {};
  double sum = 0;  // of powers, in units of the strongest so far
  for (std::size_t bin = 1; bin <= bins; ++bin) {
    const double magnitude = std::max(std::abs(spectrum[bin]), std::abs(spectrum[n - bin]));
    if (magnitude > peak.magnitude) {
      const double ratio = peak.magnitude / magnitude;
      sum *= ratio * ratio;
      peak.bin = bin, peak.magnitude = magnitude;
    }
    const double part = peak.magnitude > 0 ? magnitude / peak.magnitude : 0;
    sum += part * part;
  }
  // The rounding residue of a constant is not a frequency.
  if (peak.magnitude <= fft_tolerance(n) * std::abs(spectrum[0])) return {};
  const auto frequencies = static_cast<double>(bins), whole = static_cast<double>(n);
  peak.chance = std::min(1.0, frequencies * std::pow(1 - 1 / sum, frequencies - 1));
  constexpr double most_chance = 0.01;
  if (peak.chance >= most_chance) return {};
  const auto bin = static_cast<double>(peak.bin);
  peak.period = whole / bin;
  peak.shortest = std::max(2.0, whole / (bin + 1));
  peak.longest = peak.bin == 1 ? std::numeric_limits<double>::infinity() : whole / (bin - 1);
  return peak;
}

}  // namespace wormcube::apps
