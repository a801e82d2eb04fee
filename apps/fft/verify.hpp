// The checks of a transform: figures that are measured, never assumed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/complex.hpp"

#include <cstddef>
#include <span>

namespace wormcube::apps {

/// One measured property of a transform.
struct FftCheck {
  bool measured = false;
  double error = 0;  ///< relative to the largest value (Parseval: to the sum of squares)
  double tolerance = 0;
  bool passed() const { return measured && error <= tolerance; }  // false for an error of NaN
};

/// max |got - wanted| / max |wanted|; NaN if any value is not finite or the sizes differ.
double relative_error(std::span<const Complex> got, std::span<const Complex> wanted);

/// |sum |X|^2 - N sum |x|^2| / (N sum |x|^2), for the unscaled transform X of x. Right for values of
/// every size: they are scaled before they are squared.
double parseval_error(std::span<const Complex> signal, std::span<const Complex> spectrum);

/// The exponent of two by which values must be divided before a transform, so that no sum overflows
/// and no rounding happens among subnormal numbers; 0 for values of ordinary size.
int extreme_exponent(std::span<const Complex> values);
/// Multiplies by 2^exponent: exact, unless a result leaves the range of normal numbers.
void scale(std::span<Complex> values, int exponent);

/// What rounding alone may cause, with a margin of about a hundred: 1e-14 log2(2N).
double fft_tolerance(std::size_t elements);

/// The strongest frequency of a 1-D spectrum but for the mean; none if all are within the rounding
/// error of the mean (a constant series, zeros).
struct SpectralPeak {
  std::size_t bin = 0;   ///< 1 .. N/2; 0 if there is none
  double period = 0;     ///< N / bin, in samples
  double magnitude = 0;  ///< the larger of |X[bin]| and |X[N - bin]|
};
SpectralPeak strongest_frequency(std::span<const Complex> spectrum);

}  // namespace wormcube::apps
