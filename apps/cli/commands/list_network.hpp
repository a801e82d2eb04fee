// The rows of `wormcube list` for one network.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/options/choice.hpp"
#include "wormcube/apps/cli/options/choosers.hpp"
#include "wormcube/apps/cli/options/ranked.hpp"
#include "wormcube/apps/cli/output/table.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace wormcube::cli {

struct ListCommand {
  std::string operation;
  std::vector<std::string> on;
  RankedOptions ranked;
  std::string ports;  // empty: the machine's, else both
  CostModel model;
  ChoiceOptions choice;
  std::vector<std::string> bytes{"1K"};
  std::vector<const CLI::Option*> of_network;  // options that have no effect without one
  bool markdown = false, aliases = false;
  double time_limit = 0;
  OutputOptions output;

  std::vector<Operation> operations() const {
    if (!operation.empty()) return {parse_operation(operation)};
    const auto all = registered_operations();
    return {all.begin(), all.end()};
  }
  Ports ports_of_rows() const { return ports == "all" ? Ports::all : Ports::one; }
  std::vector<const Algorithm*> algorithms() const {
    const std::vector<Operation> wanted = operations();
    std::vector<const Algorithm*> chosen;
    for (const Algorithm* algorithm : registry()) {
      if (std::ranges::find(wanted, algorithm->operation) == wanted.end()) continue;
      if (ranked.names_algorithm(*algorithm)) chosen.push_back(algorithm);
    }
    return chosen;
  }
};

/// One operation with blocks of one size: the algorithms with their cheapest options, and the picks
/// of `auto`; empty where none runs.
struct RankedCall {
  struct Pick {
    Ports ports;
    Collective collective;
    std::optional<Ticks> replayed = {};  // where a replay decided between formulas
  };
  std::vector<Priced> all;
  std::vector<Pick> picks;

  /// \param figures  the figures that decide; nullptr: formulas, and `near` where they are close
  RankedCall(Operation operation, Weights& weights, const ListCommand& options, Bytes bytes,
             CallFigures* figures, NearWinners* near);

  bool is_pick(Ports ports, const Collective& collective) const {
    return std::ranges::any_of(picks, [&](const Pick& pick) {
      return pick.ports == ports && pick.collective.algorithm == collective.algorithm &&
             pick.collective.text() == collective.text();
    });
  }
  /// "*": picked; "all": picked with all ports only; "no": never picked.
  std::string cell(const Collective& collective) const {
    if (!picks.empty() && is_pick(picks.front().ports, collective)) return "*";
    if (is_pick(Ports::all, collective)) return "all";
    return is_chosen_by_auto(*collective.algorithm) ? "" : "no";
  }
};

/// Rows of one network, until the order by cost is known.
struct ListRow {
  Operation operation;
  std::size_t size;  // which of the block sizes
  Standing standing;
  std::vector<std::string> cells;
  Json json;

  bool operator<(const ListRow& other) const {
    return std::tie(size, standing) < std::tie(other.size, other.standing);
  }
};

std::vector<Table::Column> columns_of_admitted(bool several_sizes, bool reduce,
                                               const ChoiceOptions& choice);

/// One network's rows.
class NetworkList {
 public:
  NetworkList(const ListCommand& options, const Topology& topology)
      : options_(options),
        topology_(topology),
        weights_(topology, options.model.bus_us.has_value()),
        figures_(call_figures(options.choice, topology)),
        near_(near_winners(options.choice, options.model, topology)) {}

  void add(const Algorithm& algorithm, const std::vector<Bytes>& sizes);

  /// The cheapest first, operation by operation in their order.
  void sort();

  std::vector<ListRow> rows;
  std::vector<Json> of_refused;
  std::vector<std::string> refused, picks;
  bool has_counted = false;

 private:
  void add_row(const Collective& collective, Bytes bytes, std::size_t size,
               const RankedCall& ranked, const Json& common);

  const ListCommand& options_;
  const Topology& topology_;
  Weights weights_;
  std::unique_ptr<CallFigures> figures_;
  std::optional<NearWinners> near_;
  std::map<std::pair<std::string_view, std::size_t>, RankedCall> ranked_;
  std::map<std::tuple<std::string_view, Ports, decltype(Algorithm::bound)>, LowerBound> bounds_;
};

}  // namespace wormcube::cli
