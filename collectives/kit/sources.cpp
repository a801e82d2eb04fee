// Sources and their placement.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/sources.hpp"

#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

std::span<const Rank> sources_of(const Arguments& arguments) {
  static constexpr Rank alone = 0;
  if (arguments.sources.empty()) return {&alone, 1};
  return arguments.sources;
}

Rank nodes_to_a_source(const Setting& setting) {
  return setting.topology.nodes() / static_cast<Rank>(sources_of(setting.arguments).size());
}

Rank number_of(std::span<const Rank> sources, Rank rank) {
  const auto found = std::ranges::lower_bound(sources, rank);
  return found != sources.end() && *found == rank ? static_cast<Rank>(found - sources.begin()) : -1;
}

std::vector<Rank> sources_before(std::span<const Rank> sources, Rank p) {
  std::vector<Rank> before(static_cast<std::size_t>(p) + 1);
  for (const Rank source : sources) ++before[static_cast<std::size_t>(source) + 1];
  for (std::size_t i = 1; i < before.size(); ++i) before[i] += before[i - 1];
  return before;
}

// By runs of ones, of which masks have few.
Rank gather_bits(Rank x, Rank mask) {
  auto left = static_cast<std::uint32_t>(mask), gathered = std::uint32_t{0};
  for (int to = 0; left != 0;) {
    const int from = std::countr_zero(left), length = std::countr_one(left >> from);
    const std::uint32_t ones = (std::uint32_t{1} << length) - 1;
    gathered |= (static_cast<std::uint32_t>(x) >> from & ones) << to;
    left &= ~(ones << from);
    to += length;
  }
  return static_cast<Rank>(gathered);
}

Rank spread_bits(Rank x, Rank mask) {
  auto left = static_cast<std::uint32_t>(mask), bits = static_cast<std::uint32_t>(x),
       spread = std::uint32_t{0};
  while (left != 0) {
    const int to = std::countr_zero(left), length = std::countr_one(left >> to);
    const std::uint32_t ones = (std::uint32_t{1} << length) - 1;
    spread |= (bits & ones) << to;
    left &= ~(ones << to);
    bits >>= length;
  }
  return static_cast<Rank>(spread);
}

Rank Placement::source_of(Rank node) const {
  return by_value[static_cast<std::size_t>(gather_bits(node, columns))];
}
Rank Placement::row(Rank node) const { return gather_bits(node ^ source_of(node), rows()); }
Rank Placement::with_row(Rank node, Rank row) const {
  return (node & columns) | ((source_of(node) ^ spread_bits(row, rows())) & rows());
}

std::optional<Placement> placement(std::span<const Rank> sources, Rank p) {
  const auto k = static_cast<Rank>(sources.size());
  if (!std::has_single_bit(sources.size()) || k > p) return std::nullopt;
  // All masks of log2 k bits, ascending: the next one moves its lowest run of ones (Gosper).
  Rank next = 0;
  for (Rank columns = k - 1; columns < p; columns = next) {
    Placement found{p, columns, std::vector<Rank>(sources.size(), -1)};
    const bool apart = std::ranges::all_of(sources, [&](Rank source) {
      Rank& place = found.by_value[static_cast<std::size_t>(gather_bits(source, columns))];
      return std::exchange(place, source) < 0;
    });
    if (apart) return found;
    const Rank low = columns & -columns, carried = columns + low;
    next = carried | ((columns ^ carried) / low) >> 2;
  }
  return std::nullopt;
}

Placement require_placement(std::string_view algorithm, std::span<const Rank> sources, Rank p,
                            std::string_view instead) {
  if (!std::has_single_bit(sources.size())) {
    throw UsageError(fmt::format("{}: the number of sources must be a power of 2, not {}; {}",
                                 algorithm, sources.size(), instead));
  }
  if (auto found = placement(sources, p)) return *std::move(found);
  throw UsageError(fmt::format(
      "{}: each of {} subcubes of {} nodes must contain one of the sources, but some contain none; "
      "choose the sources 0 to {}, or {}",
      algorithm, sources.size(), p / static_cast<Rank>(sources.size()), sources.size() - 1,
      instead));
}

Prediction direct_prediction(const Setting& setting,
                             PatternMessage (*message)(Rank source, Rank other)) {
  constexpr Rank most_nodes = 2048;
  const Rank p = setting.topology.nodes();
  const Prediction prediction{p - 1, p - 1, 0, 0};
  if (p > most_nodes) return prediction;
  PatternSteps steps(setting.topology);
  for (Rank i = 1; i < p; ++i) {
    std::vector<PatternMessage> messages;
    for (const Rank source : sources_of(setting.arguments)) {
      messages.push_back(message(source, mod(source + i, p)));
    }
    steps.add(messages);
  }
  return steps.with_loads(prediction);
}

}  // namespace wormcube
