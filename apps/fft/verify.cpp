// The checks of a transform.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/fft/verify.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace wormcube::apps {

namespace {

// std::max forgets a NaN on one side.
void raise(double& largest, double value) {
  if (!(value <= largest)) largest = value;
}

double relative_to(double error, double scale) { return error == 0 ? 0 : error / scale; }

long double energy(std::span<const Complex> values) {
  long double sum = 0;
  for (const Complex value : values) sum += std::norm(std::complex<long double>(value));
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
  const long double wanted = static_cast<long double>(signal.size()) * energy(signal);
  const auto error = static_cast<double>(std::abs(energy(spectrum) - wanted));
  return relative_to(error, static_cast<double>(wanted));
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
  return peak;
}

}  // namespace wormcube::apps
