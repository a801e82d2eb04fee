// The route of one block.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/follow_block.hpp"

#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/collectives/harness/naming.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/core.h>

namespace wormcube::cli {

std::pair<Rank, Rank> parse_block(std::string_view text, const Topology& topology) {
  const auto number = [&](std::string_view word) {
    Rank rank = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), rank);
    if (error != std::errc{} || end != word.data() + word.size() || rank < 0) {
      throw UsageError(
          fmt::format("--block '{}': expected two nodes, from and to, as in 0,10", text));
    }
    if (rank >= topology.nodes()) {
      throw UsageError(fmt::format("--block '{}': out of range; {} has nodes 0 to {}", text,
                                   topology.name(), topology.nodes() - 1));
    }
    return rank;
  };
  const std::size_t comma = text.find(',');
  return {number(text.substr(0, comma)),
          number(comma == std::string_view::npos ? "" : text.substr(comma + 1))};
}

BlockWay follow_block(const Collective& collective, const Schedule& schedule, Rank from, Rank to,
                      bool in_place) {
  const Topology& topology = schedule.topology;
  const Operation operation = collective.operation();
  if (operation->reduces) {
    throw UsageError(
        fmt::format("--block: {} combines blocks, so none can be followed", operation->name));
  }
  const Goal goal = goal_of(operation, collective.arguments, topology.nodes());
  std::optional<Goal::Wanted> wanted;
  for (Rank block = 0; block < goal.ends_with(to) && !wanted; ++block) {
    const Goal::Wanted result = goal.result(to, block);
    if (result.first == from && result.last == from + 1) wanted = result;
  }
  if (!wanted) {
    throw UsageError(fmt::format("--block {},{}: {} sends nothing from node {} to node {}", from,
                                 to, operation->name, from, to));
  }
  BlockWay way{static_cast<std::size_t>(collective.parts(topology)), {}};
  Words words(topology.nodes());
  const auto posted = [&](std::size_t step, Rank node, const OpRecord& op,
                          std::span<const NamedValue> values) {
    const auto carried = std::ranges::count_if(values, [&](const NamedValue& value) {
      return value.word == static_cast<WordId>(from) && value.block == wanted->block;
    });
    if (carried > 0)
      way.hops.push_back({step, node, op.peer, static_cast<std::size_t>(carried), values.size()});
  };
  run_with_names(collective, schedule, in_place, words, {posted});
  std::ranges::stable_sort(
      way.hops, {}, [](const BlockHop& hop) { return std::tuple(hop.step, hop.to, hop.from); });
  return way;
}

Json print_way(const OutputOptions& output, const BlockWay& way, Rank from, Rank to) {
  print_setting(output, "block", fmt::format("from node {} to node {}", from, to));
  Table table({{.head = "step"},
               {.head = "from"},
               {.head = "to"},
               {.head = "part", .unit = "block"},
               {.head = "message", .unit = "blocks"}});
  Json hops = Json::array();
  const auto blocks = [&way](double words) { return words / static_cast<double>(way.words); };
  for (const BlockHop& hop : way.hops) {
    const double part = blocks(static_cast<double>(hop.words)),
                 message = blocks(static_cast<double>(hop.all_words));
    table.add({std::to_string(hop.step), std::to_string(hop.from), std::to_string(hop.to),
               cell(part), cell(message)});
    hops.push_back({{"step", hop.step},
                    {"from", hop.from},
                    {"to", hop.to},
                    {"part", json_value(part)},
                    {"message_blocks", json_value(message)}});
  }
  print_table(output, table);
  if (from == to && way.hops.empty())
    print_note(output,
               "the node keeps this block: no message "
               "carries it");
  return {{"from", from}, {"to", to}, {"hops", std::move(hops)}};
}

}  // namespace wormcube::cli
