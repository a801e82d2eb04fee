// What `wormcube fft` transforms: read from a file, or generated.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/complex.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube::apps {

/// A one- or two-dimensional array. Real input is computed as complex.
struct Signal {
  std::vector<std::size_t> shape;  ///< {N} or {R, C}
  std::vector<Complex> values;     ///< row-major
  bool real = false;
  std::string source;  ///< where it comes from, for the report
};

enum class SignalKind : std::uint8_t { random, random_real, impulse, tones };
/// `random`, `random-real`, `impulse`, `tones`. Throws UsageError that lists them.
SignalKind parse_signal_kind(std::string_view text);

/// \param shape  {N} or {R, C}
/// impulse: 1 at a place that the seed chooses; tones: three real waves of whole periods, strengths
/// 1, 1/2, 1/4.
/// Throws UsageError for another shape, or more elements than the computer has memory for.
Signal generate_signal(SignalKind kind, std::vector<std::size_t> shape, std::uint64_t seed);

/// \param file    in NumPy's format (1-D or 2-D, any element type that read_npy knows) or CSV: its
///                content decides, not its name
/// \param column  of a CSV file, as read_csv_column takes it
/// Throws UsageError as the readers do, and for values that are not finite, with their place.
Signal read_signal(const std::string& file, std::string_view column = {});

/// The record inside the program: 2820 monthly sunspot numbers (data/sunspots.csv).
Signal sunspot_record();

/// Throws UsageError unless the shape is {N} or {R, C}, at least 1 each, and all values are there
/// and finite.
void require_signal(const Signal& signal);

}  // namespace wormcube::apps
