// The checks of a transform.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/fft/verify.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>

namespace wormcube::apps {

namespace {

// std::max forgets a NaN on one side.
void raise(double& largest, double value) {
  if (!(value <= largest)) largest = value;
}

double relative_to(double error, double scale) { return error == 0 ? 0 : error / scale; }

/// The power of two just above the largest part of any value; the values over it square without
/// overflow, and without losing those that matter. NaN and infinity are left to the sums.
int exponent_of(std::span<const Complex> values) {
  double largest = 0;
  for (const Complex value : values) {
    largest = std::max({largest, std::abs(value.real()), std::abs(value.imag())});
  }
  int exponent = 0;
  if (std::isfinite(largest)) std::frexp(largest, &exponent);
  return exponent;
}

/// sum |v|^2 / 4^exponent
long double energy(std::span<const Complex> values, int exponent) {
  long double sum = 0;
  for (const Complex value : values) {
    sum += std::norm(std::complex<long double>(std::scalbn(value.real(), -exponent),
                                               std::scalbn(value.imag(), -exponent)));
  }
  return sum;
}

}  // namespace

double relative_error(std::span<const Complex> got, std::span<const Complex> wanted) {
  if (got.size() != wanted.size()) return std::numeric_limits<double>::quiet_NaN();
  double error = 0, scale = 0;
  for (std::size_t i = 0; i < got.size() && !std::isnan(error); ++i) {
    raise(error, std::abs(got[i] - wanted[i]));
    raise(scale, std::abs(wanted[i]));
  }
  return relative_to(error, scale);
}

double parseval_error(std::span<const Complex> signal, std::span<const Complex> spectrum) {
  if (signal.size() != spectrum.size()) return std::numeric_limits<double>::quiet_NaN();
  // One scale for both: that of the spectrum, whose values are the larger ones.
  const int exponent = exponent_of(spectrum);
  const long double wanted = static_cast<long double>(signal.size()) * energy(signal, exponent);
  const long double error = std::abs(energy(spectrum, exponent) - wanted);
  return error == 0 ? 0 : static_cast<double>(error / wanted);
}

int extreme_exponent(std::span<const Complex> values) {
  // Doubles reach from 2^-1074 to 2^1024. Sums of 2^30 values, products of two transforms and
  // squares stay inside if the largest value is within 2^-300 and 2^300.
  constexpr int ordinary = 300;
  const int exponent = exponent_of(values);
  return std::abs(exponent) > ordinary ? exponent : 0;
}

void scale(std::span<Complex> values, int exponent) {
  for (Complex& value : values) {
    value = {std::scalbn(value.real(), exponent), std::scalbn(value.imag(), exponent)};
  }
}

double fft_tolerance(std::size_t elements) {
  return 1e-14 * std::log2(2 * static_cast<double>(elements));
}

SpectralPeak strongest_frequency(std::span<const Complex> spectrum) {
  SpectralPeak peak;
  const std::size_t n = spectrum.size();
  for (std::size_t bin = 1; bin <= n / 2; ++bin) {
    const double magnitude = std::max(std::abs(spectrum[bin]), std::abs(spectrum[n - bin]));
    if (magnitude > peak.magnitude) {
      peak = {bin, static_cast<double>(n) / static_cast<double>(bin), magnitude};
    }
  }
  // What rounding leaves of a constant is no frequency.
  if (n == 0 || peak.magnitude <= fft_tolerance(n) * std::abs(spectrum[0])) return {};
  return peak;
}

}  // namespace wormcube::apps
