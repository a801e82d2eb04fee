// The checks of a transform: measured figures, never assumed ones.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/fft/plan.hpp"
#include "wormcube/apps/io/complex.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace wormcube::apps {

/// One measured property of a transform.
struct FftCheck {
  bool measured = false;
  double error = 0;  ///< of all values together, in the L2 norm (Parseval: of the energy)
  double tolerance = 0;
  bool passed() const { return measured && error <= tolerance; }  // false for an error of NaN
};

/// ||actual - expected|| / ||expected||, L2; NaN if any value is not finite or the sizes differ. A
/// fast transform is stable in this norm, and in no other: a single small value may be all
/// rounding.
double relative_error(std::span<const Complex> got, std::span<const Complex> wanted);

/// |sum |X|^2 - N sum |x|^2| / (N sum |x|^2), for the unscaled transform X of x. Correct for values
/// of every size: they are scaled before they are squared.
double parseval_error(std::span<const Complex> signal, std::span<const Complex> spectrum);

/// The largest magnitude of a real or imaginary part; NaN is ignored here, and found by the sums.
double largest_component(std::span<const Complex> values);
/// The exponent of the power of two just above: values divided by it square without overflow, and
/// without losing those that matter. 0 for values that are not finite.
int exponent_above(double largest);
/// sum |v|^2 / 4^exponent
long double energy(std::span<const Complex> values, int exponent);

/// The exponent of two by which values must be divided before a transform, so that no sum overflows
/// and no rounding happens among subnormal numbers; 0 for values of ordinary size.
/// \param largest  component of any value
int extreme_exponent(double largest);
/// Multiplies by 2^exponent: exact, unless a result leaves the range of normal numbers.
void scale(std::span<Complex> values, int exponent);

/// The unit of errors: eps log2 N, in double precision (2^-52); N = 1 as 2. A good transform has
/// about half of eps times the root of log2 N.
double rounding_unit(std::size_t elements);
/// The tolerance of a check: 5 such units; for bluestein, which transforms three times, 10.
double fft_tolerance(std::size_t elements, FftMethod method = FftMethod::six_step);
/// A signal that is shifted cyclically, with an impulse added. Its transform follows in closed form
/// from the signal's transform, and no FFT computes it. A map for which this holds, for any signal,
/// shift and place, is linear, turns phases as the definition says, and maps an impulse to the
/// definition's wave: only one map does.
/// Source: F. Ergun, Testing Multivariate Linear Functions: Overcoming the Generator Bottleneck,
/// STOC 1995.
struct ShiftAndImpulse {
  std::vector<std::size_t> shape;  ///< {N} or {R, C}
  std::vector<std::size_t> by, place;
  double strength = 1;

  /// Shift and place at random; the impulse is as strong as the whole signal.
  ShiftAndImpulse(std::vector<std::size_t> shape, std::span<const Complex> signal,
                  std::uint64_t seed);
  std::vector<Complex> applied(std::span<const Complex> signal) const;
  /// The relative error of its transform, given the signal's own.
  double error(std::span<const Complex> spectrum, std::span<const Complex> of_signal,
               Direction direction) const;
};

/// The strongest frequency of a 1-D spectrum except the mean; none if all are within the rounding
/// error of the mean (a constant series, zeros), or if it does not stand out: a series of
/// independent normal numbers would have one as strong with a probability of 1 in 100 or more.
/// Source: R. A. Fisher, Tests of Significance in Harmonic Analysis, Proc. Royal Society A 125,
/// 1929.
struct SpectralPeak {
  std::size_t bin = 0;   ///< 1 .. N/2; 0 if there is none
  double magnitude = 0;  ///< the larger of |X[bin]| and |X[N - bin]|
  /// Samples; N / bin, and the periods of the adjacent bins, which are the resolution of this many
  /// samples. The longest one is infinite for bin 1.
  double period = 0, shortest = 0, longest = 0;
  double chance = 1;  ///< upper bound of the probability that noise would have one as strong
};
SpectralPeak strongest_frequency(std::span<const Complex> spectrum);

}  // namespace wormcube::apps
