// The signal that `wormcube fft` transforms: read from a file, or generated.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/io/complex.hpp"
#include "wormcube/apps/io/source.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
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

/// A signal of which each process reads its own part: in memory, from a file, or from a rule.
class SignalSource {
 public:
  using Read = std::function<void(std::size_t first, std::span<Complex> to)>;

  SignalSource(Signal signal);  // NOLINT: a signal is a source as it is
  SignalSource(std::vector<std::size_t> shape, bool real, std::string source, Read read);

  const std::vector<std::size_t>& shape() const { return shape_; }
  bool real() const { return real_; }
  const std::string& source() const { return source_; }
  std::size_t elements() const;
  bool is_in_memory() const { return whole_ != nullptr; }

  /// Throws UsageError if they cannot be read. \param room  memory for them, unless they are in
  /// memory already
  std::span<const Complex> load(Part part, std::vector<Complex>& room) const;

 private:
  std::vector<std::size_t> shape_;
  bool real_ = false;
  std::string source_;
  Read read_;
  std::shared_ptr<const Signal> whole_;
};

enum class SignalKind : std::uint8_t { random, random_real, impulse, tones };
/// `random`, `random-real`, `impulse`, `tones`. Throws UsageError that lists them.
SignalKind parse_signal_kind(std::string_view text);

/// \param shape  {N} or {R, C}
/// impulse: 1 at a place that depends on the seed; tones: three real waves of whole periods,
/// strengths 1, 1/2, 1/4.
/// Throws UsageError for another shape, or if there is not enough memory for the elements.
Signal generate_signal(SignalKind kind, std::vector<std::size_t> shape, std::uint64_t seed);
/// The same, generated where and when it is needed.
SignalSource made_signal(SignalKind kind, std::vector<std::size_t> shape, std::uint64_t seed);

/// \param file    in NumPy's format (1-D or 2-D, any element type that read_npy knows) or CSV:
///                recognised by its content, not its name
/// \param column  of a CSV file, as for open_csv_column
/// Throws UsageError as the readers do, and for values that are not finite, with their place.
Signal read_signal(const std::string& file, std::string_view column = {});
/// The same, read where and when it is needed; a CSV file is read completely here.
SignalSource open_signal(const std::string& file, std::string_view column = {});

/// The record built into the program: 2820 monthly sunspot numbers (data/sunspots.csv).
Signal sunspot_record();

/// Throws UsageError unless the shape is {N} or {R, C}, at least 1 each, and all values are present
/// and finite.
void require_signal(const Signal& signal);
/// Throws UsageError, with its place in the whole, for a value that is not finite.
/// \param first  the place of the first value
void require_finite(std::span<const std::size_t> shape, std::string_view source, std::size_t first,
                    std::span<const Complex> values);

}  // namespace wormcube::apps
