// The work of emulating a call, counted in a dry run, or by prediction.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/choose/work.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

WorkLine work_line(const Schedule& schedule, const Routing& routing, Bytes unit_bytes) {
  Bytes bytes = 0, rearranged = 0, messages = 0, links = 0, steps = 0, pieces = 0;
  std::vector<Channel> path;
  for (Rank rank = 0; rank < schedule.topology.nodes(); ++rank) {
    const RankLog& log = schedule.ranks[static_cast<std::size_t>(rank)];
    for (const OpRecord& op : log.ops) {
      if (op.kind != Op::Kind::send) continue;
      path.clear();
      if (op.moves > 0) {
        routing.route(rank, schedule.moves(rank, op), path);
      } else {
        routing.route(rank, op.peer, path);
      }
      bytes += op.bytes;
      links += path.size();
      ++messages;
    }
    steps += log.step_ends.size();
    for (const auto& [gap, moved] : log.rearranged.filled()) rearranged += moved;
    for (const auto& [gap, combined] : log.combined.filled()) {
      bytes += combined * work_of_combined_byte;
    }
  }
  const Bytes unit = std::max<Bytes>(unit_bytes, 1);
  for (const std::uint64_t of_rank : schedule.pieces) pieces += of_rank;
  pieces += rearranged / unit;
  return {static_cast<double>(messages * work_of_message + links * work_of_link +
                              steps * work_of_step + pieces * work_of_piece),
          static_cast<double>(bytes + rearranged) / static_cast<double>(unit)};
}

/// As if each node did what the busiest does, one message per step, one piece at each end.
std::optional<WorkLine> work_by_formula(double startups, const Prediction& prediction, Rank nodes) {
  if (!prediction.transmission_blocks) return std::nullopt;
  constexpr Bytes of_startup = work_of_message + work_of_link + work_of_step + 2 * work_of_piece;
  const double rearranged = prediction.rearranged_blocks.value_or(0);
  const double blocks = *prediction.transmission_blocks + rearranged +
                        prediction.combined_blocks.value_or(0) * work_of_combined_byte;
  return WorkLine{nodes * (startups * static_cast<double>(of_startup) +
                           rearranged * static_cast<double>(work_of_piece)),
                  nodes * blocks};
}

}  // namespace

double work_of(const Schedule& schedule, const Routing& routing, Bytes unit_bytes,
               Bytes block_bytes) {
  return work_line(schedule, routing, unit_bytes).of(block_bytes);
}

std::optional<WorkLine> work_line(const Collective& collective, const Routing& routing,
                                  Bytes block_bytes) {
  const Topology& topology = routing.topology();
  const Prediction prediction = collective.predict(topology);
  std::optional<WorkLine> line;
  const auto is_counted = counted(collective, topology, prediction.startups, block_bytes,
                                  [&](const Schedule& schedule, Bytes unit_bytes) {
                                    line = work_line(schedule, routing, unit_bytes);
                                    return 0.0;
                                  });
  if (is_counted || !prediction.startups) return line;
  return work_by_formula(*prediction.startups, prediction, topology.nodes());
}

std::optional<double> work_of(const Collective& collective, const Routing& routing,
                              Bytes block_bytes) {
  const auto line = work_line(collective, routing, block_bytes);
  return line ? std::optional(line->of(block_bytes)) : std::nullopt;
}

CallFigures::Answer EmulationWork::figure_of(const Collective& collective, Bytes block_bytes,
                                             bool /*all_port*/) {
  const bool even = collective.operation()->sizes == Sizes::equal;
  const auto [line, is_new] = lines_.try_emplace(fmt::format(
      "{} {} {} {}", collective.operation()->name, collective.text(),
      arguments_text(collective.operation(), collective.arguments), even ? 0 : block_bytes));
  if (is_new) {
    try {
      line->second = work_line(collective, routing_, block_bytes);
    } catch (const UsageError& error) {
      lines_.erase(line);
      return {{}, error.what()};
    }
  }
  if (!line->second) return {{}, "too long for a dry run, and its source gives no formula"};
  return {static_cast<std::int64_t>(line->second->of(block_bytes)), {}};
}

Collective least_work(const Choice& choice) {
  const Routing routing(choice.topology);
  std::optional<Collective> least;
  double least_work = std::numeric_limits<double>::infinity();
  for (const Priced& priced : ranking(choice)) {
    if (!is_chosen_by_auto(*priced.collective.algorithm)) continue;
    const std::optional<double> work = work_of(priced.collective, routing, choice.block_bytes);
    if (work && *work < least_work) least = priced.collective, least_work = *work;
  }
  return least ? *least : cheapest(choice);
}

}  // namespace wormcube
