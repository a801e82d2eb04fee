// What `wormcube fft` transforms: read from a file, or generated.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/fft/signal.hpp"

#include "wormcube/apps/exchange.hpp"
#include "wormcube/apps/fft/plan.hpp"
#include "wormcube/apps/io/csv.hpp"
#include "wormcube/apps/io/npy.hpp"
#include "wormcube/apps/io/read_once.hpp"
#include "wormcube/apps/io/text.hpp"
#include "wormcube/apps/random.hpp"
#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/host/memory.hpp"

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

// Whole periods in N samples; which ones depends on the seed.
void add_tones(SplitMix& random, std::vector<Complex>& values) {
  for (double strength = 1; strength > 0.2; strength /= 2) {
    const std::uint64_t order = values.size(), periods = random.next() % (order / 2 + 1);
    for (std::uint64_t n = 0, phase = 0; n < order; ++n, phase = (phase + periods) % order) {
      values[n] += strength * root_of_unity(phase, order).real();
    }
  }
}

}  // namespace

SignalKind parse_signal_kind(std::string_view text) {
  for (const auto& [kind, name] : kinds) {
    if (name == text) return kind;
  }
  throw UsageError(
      fmt::format("no signal '{}'; there are random, random-real, impulse, tones", text));
}

Signal generate_signal(SignalKind kind, std::vector<std::size_t> shape, std::uint64_t seed) {
  const std::size_t elements = count_elements(shape);
  require_memory(fmt::format("a signal of {}", fmt::join(shape, " x ")),
                 static_cast<double>(elements) * sizeof(Complex), "use a smaller one (--shape)");
  Signal signal{
      std::move(shape), std::vector<Complex>(elements), kind != SignalKind::random,
      fmt::format("generated: {}, seed {}", kinds[static_cast<std::size_t>(kind)].second, seed)};
  SplitMix random(seed);
  switch (kind) {
    case SignalKind::random:
      for (Complex& value : signal.values) {
        const double real = random.symmetric();
        value = {real, random.symmetric()};
      }
      break;
    case SignalKind::random_real:
      for (Complex& value : signal.values) value = random.symmetric();
      break;
    case SignalKind::impulse:
      signal.values[random.next() % elements] = 1;
      break;
    case SignalKind::tones:
      add_tones(random, signal.values);
      break;
  }
  return signal;
}

namespace {

Signal read_signal_again(const std::string& file, std::string_view column) {
  Signal signal;
  if (kind_of_file(file) == FileKind::npy) {
    if (!column.empty()) {
      throw UsageError(fmt::format("{}: column '{}' of a .npy file; columns are of CSV files", file,
                                   shown(column)));
    }
    const Array array = read_npy(file);
    if (array.shape.empty() || array.shape.size() > 2) {
      throw UsageError(
          fmt::format("{}: an array of {} dimensions; fft takes 1 or 2", file, array.shape.size()));
    }
    require_memory(fmt::format("{}: {} elements as complex128", file, array.elements()),
                   static_cast<double>(array.elements()) * sizeof(Complex),
                   "use a part of the array");
    const bool complex =
        array.type == ElementType::complex64 || array.type == ElementType::complex128;
    signal = {array.shape, to_complex(array), !complex,
              fmt::format("{} ({})", file, to_string(array.type))};
  } else {
    const CsvColumn values = read_csv_column(file, column);
    signal = {{values.values.size()},
              {values.values.begin(), values.values.end()},
              true,
              fmt::format("{} ({})", file, values.name)};
  }
  require_signal(signal);
  return signal;
}

}  // namespace

Signal read_signal(const std::string& file, std::string_view column) {
  const Readable readable(file);
  try {
    Signal signal = read_signal_again(readable.name(), column);
    signal.source = readable.of_file(signal.source);
    return signal;
  } catch (const UsageError& error) {
    throw UsageError(readable.of_file(error.what()));
  }
}

Signal sunspot_record() {
  CsvColumn column = parse_csv_column(sunspots_csv, "the sunspot record", "sunspots");
  return {{column.values.size()},
          {column.values.begin(), column.values.end()},
          true,
          "monthly sunspot numbers, January 1749 to December 1983"};
}

void require_signal(const Signal& signal) {
  const std::size_t elements = count_elements(signal.shape);
  if (signal.values.size() != elements) {
    throw UsageError(fmt::format("fft: {} values for shape {}", signal.values.size(),
                                 fmt::join(signal.shape, " x ")));
  }
  const auto bad = std::ranges::find_if_not(signal.values, [](Complex value) {
    return std::isfinite(value.real()) && std::isfinite(value.imag());
  });
  if (bad != signal.values.end()) {
    const auto index = static_cast<std::size_t>(bad - signal.values.begin());
    const std::size_t columns = signal.shape.back();
    throw UsageError(fmt::format(
        "{}: value {}{} is {}; a transform needs finite values",
        signal.source.empty() ? "fft" : signal.source, index,
        signal.shape.size() == 2
            ? fmt::format(" (row {}, column {}; from 0)", index / columns, index % columns)
            : " (from 0)",
        std::isnan(bad->real()) || std::isnan(bad->imag()) ? "not a number (NaN)" : "infinite"));
  }
}

}  // namespace wormcube::apps
