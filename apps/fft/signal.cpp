// The signal that `wormcube fft` transforms: read from a file, or generated.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/fft/signal.hpp"

#include "wormcube/apps/common/exchange.hpp"
#include "wormcube/apps/common/random.hpp"
#include "wormcube/apps/fft/plan.hpp"
#include "wormcube/apps/io/csv.hpp"
#include "wormcube/apps/io/npy.hpp"
#include "wormcube/apps/io/read_once.hpp"
#include "wormcube/apps/io/text.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/memory.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace wormcube::apps {

extern const std::string_view sunspots_csv;  // generated from data/sunspots.csv

namespace {

constexpr std::array<std::pair<SignalKind, std::string_view>, 4> kinds{
    {{SignalKind::random, "random"},
     {SignalKind::random_real, "random-real"},
     {SignalKind::impulse, "impulse"},
     {SignalKind::tones, "tones"}}};

// Whole periods in N samples; the seed determines which ones.
void add_tones(SplitMix& random, std::uint64_t order, std::size_t first,
               std::span<Complex> values) {
  for (double strength = 1; strength > 0.2; strength /= 2) {
    const std::uint64_t periods = random.next() % (order / 2 + 1);
    std::uint64_t phase = first * periods % order;
    for (Complex& value : values) {
      value += strength * root_of_unity(phase, order).real();
      phase = (phase + periods) % order;
    }
  }
}

void make_values(SignalKind kind, SplitMix random, std::size_t elements, std::size_t first,
                 std::span<Complex> values) {
  std::ranges::fill(values, Complex{});
  switch (kind) {
    case SignalKind::random:
      random.skip(2 * first);
      for (Complex& value : values) {
        const double real = random.symmetric();
        value = {real, random.symmetric()};
      }
      break;
    case SignalKind::random_real:
      random.skip(first);
      for (Complex& value : values) value = random.symmetric();
      break;
    case SignalKind::impulse:
      if (const std::size_t at = random.next() % elements; at - first < values.size()) {
        values[at - first] = 1;  // below `first` the difference is very large
      }
      break;
    case SignalKind::tones:
      add_tones(random, elements, first, values);
      break;
  }
}

/// Elements of any type as complex numbers, some at a time.
void read_converted(const Source& source, std::size_t first, std::span<Complex> to) {
  if (source.type() == ElementType::complex128) {
    return source.reader().read(first, std::as_writable_bytes(to));
  }
  constexpr std::size_t most = 1 << 16;
  for (std::size_t at = 0; at < to.size(); at += most) {
    const std::size_t count = std::min(most, to.size() - at);
    Array piece{source.type(), {count}, std::vector<std::byte>(count * bytes_of(source.type()))};
    source.reader().read(first + at, piece.data);
    std::ranges::copy(to_complex(piece), to.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

}  // namespace

SignalKind parse_signal_kind(std::string_view text) {
  for (const auto& [kind, name] : kinds) {
    if (name == text) return kind;
  }
  throw UsageError(
      fmt::format("unknown signal '{}'; available: random, random-real, impulse, tones", text));
}

SignalSource::SignalSource(Signal signal)
    : shape_(signal.shape), real_(signal.real), source_(signal.source) {
  whole_ = std::make_shared<const Signal>(std::move(signal));
}

SignalSource::SignalSource(std::vector<std::size_t> shape, bool real, std::string source, Read read)
    : shape_(std::move(shape)), real_(real), source_(std::move(source)), read_(std::move(read)) {}

std::size_t SignalSource::elements() const { return count_elements(shape_); }

std::span<const Complex> SignalSource::load(Part part, std::vector<Complex>& room) const {
  if (whole_ != nullptr) {
    if (whole_->values.size() != elements()) require_signal(*whole_);
    return std::span(whole_->values).subspan(part.first, part.count);
  }
  room.resize(part.count);
  if (part.count > 0) read_(part.first, room);
  return room;
}

SignalSource made_signal(SignalKind kind, std::vector<std::size_t> shape, std::uint64_t seed) {
  const std::size_t elements = count_elements(shape);
  return {std::move(shape), kind != SignalKind::random,
          fmt::format("generated: {}, seed {}", kinds[static_cast<std::size_t>(kind)].second, seed),
          [=](std::size_t first, std::span<Complex> to) {
            make_values(kind, SplitMix(seed), elements, first, to);
          }};
}

namespace {

/// All of it, in memory.
Signal whole(const SignalSource& source) {
  Signal signal{source.shape(), {}, source.real(), source.source()};
  const std::span<const Complex> values = source.load({0, source.elements()}, signal.values);
  if (source.is_in_memory()) signal.values.assign(values.begin(), values.end());
  return signal;
}

}  // namespace

Signal generate_signal(SignalKind kind, std::vector<std::size_t> shape, std::uint64_t seed) {
  require_memory(fmt::format("a signal of {}", fmt::join(shape, " x ")),
                 static_cast<double>(count_elements(shape)) * sizeof(Complex),
                 "use a smaller one (--shape)");
  return whole(made_signal(kind, std::move(shape), seed));
}

namespace {

/// \param named  what the file is called in reports
SignalSource open_signal_again(const std::string& file, std::string_view column,
                               const std::string& named) {
  if (kind_of_file(file) != FileKind::npy) {
    const CsvColumn csv = open_csv_column(file, column);
    return {csv.values.shape(), true, fmt::format("{} ({})", named, csv.name),
            [values = csv.values](std::size_t first, std::span<Complex> to) {
              read_converted(values, first, to);
            }};
  }
  if (!column.empty()) {
    throw UsageError(fmt::format("{}: column '{}' of a .npy file; only CSV files have columns",
                                 file, shown(column)));
  }
  Source array = open_npy(file);
  if (array.shape().empty() || array.shape().size() > 2) {
    throw UsageError(
        fmt::format("{}: an array of {} dimensions; fft takes 1 or 2", file, array.shape().size()));
  }
  const bool complex =
      array.type() == ElementType::complex64 || array.type() == ElementType::complex128;
  const std::vector<std::size_t> shape = array.shape();
  const std::string source = fmt::format("{} ({})", named, to_string(array.type()));
  return {shape, !complex, source,
          [array = std::move(array)](std::size_t first, std::span<Complex> to) {
            read_converted(array, first, to);
          }};
}

}  // namespace

// The source keeps a pipe's copy open.
SignalSource open_signal(const std::string& file, std::string_view column) {
  return read_once(file,
                   [&](const std::string& name) { return open_signal_again(name, column, file); });
}

Signal read_signal(const std::string& file, std::string_view column) {
  const SignalSource source = open_signal(file, column);
  if (!source.is_in_memory()) {
    require_memory(fmt::format("{}: {} elements as complex128", file, source.elements()),
                   static_cast<double>(source.elements()) * sizeof(Complex),
                   "use a part of the array");
  }
  Signal signal = whole(source);
  require_signal(signal);
  return signal;
}

Signal sunspot_record() {
  const auto values = parse_csv_column(sunspots_csv, "the sunspot record", "sunspots");
  return {{values.size()},
          {values.begin(), values.end()},
          true,
          "monthly sunspot numbers, January 1749 to December 1983"};
}

void require_signal(const Signal& signal) {
  const std::size_t elements = count_elements(signal.shape);
  if (signal.values.size() != elements) {
    throw UsageError(fmt::format("fft: {} values for shape {}", signal.values.size(),
                                 fmt::join(signal.shape, " x ")));
  }
  require_finite(signal.shape, signal.source, 0, signal.values);
}

void require_finite(std::span<const std::size_t> shape, std::string_view source, std::size_t first,
                    std::span<const Complex> values) {
  const auto bad = std::ranges::find_if_not(values, [](Complex value) {
    return std::isfinite(value.real()) && std::isfinite(value.imag());
  });
  if (bad == values.end()) return;
  const std::size_t index = first + static_cast<std::size_t>(bad - values.begin());
  const std::size_t columns = shape.back();
  throw UsageError(fmt::format(
      "{}: value {}{} is {}; a transform needs finite values", source.empty() ? "fft" : source,
      index,
      shape.size() == 2
          ? fmt::format(" (row {}, column {}; from 0)", index / columns, index % columns)
          : " (from 0)",
      std::isnan(bad->real()) || std::isnan(bad->imag()) ? "not a number (NaN)" : "infinite"));
}

}  // namespace wormcube::apps
