// The blocks that each node holds, by the names of what messages carry.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/play.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/naming.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/core.h>

namespace wormcube::apps {
namespace {

using Runs = std::vector<std::pair<std::size_t, std::size_t>>;  // first, one after the last

void put_runs(Packer& packer, std::vector<std::size_t>& units) {
  std::ranges::sort(units);
  units.erase(std::unique(units.begin(), units.end()), units.end());
  Runs runs;
  for (const std::size_t unit : units) {
    if (runs.empty() || runs.back().second != unit) runs.emplace_back(unit, unit);
    ++runs.back().second;
  }
  packer.put(runs.size());
  std::size_t last = 0;
  for (const auto& [first, end] : runs) {
    packer.put(first - last);
    packer.put(end - first - 1);
    last = end;
  }
}

/// The share of its result that each node has. Blocks that move count only at their destination,
/// other blocks always.
class Holdings {
 public:
  Holdings(const PlayBlocks& blocks, Rank nodes, const std::vector<Rank>& destinations)
      : moves_(blocks.kind == "moves"),
        parts_(static_cast<std::size_t>(blocks.parts)),
        destinations_(destinations),
        count_(static_cast<std::size_t>(nodes)),
        all_(count_.size(), moves_ ? 0 : blocks.units) {
    places_.resize(blocks.units);
    if (!moves_) has_.resize(count_.size() * blocks.units);
    for (Rank rank = 0; rank < nodes; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      std::vector<std::size_t> own(parts_ * (blocks.bases[r + 1] - blocks.bases[r]));
      std::iota(own.begin(), own.end(), parts_ * blocks.bases[r]);
      if (moves_) {
        for (const std::size_t unit : own) {
          places_[unit] = -1;
          const Rank wanted = destinations_[unit / parts_];
          if (wanted >= 0) ++all_[static_cast<std::size_t>(wanted)];
        }
      }
      arrive(rank, own);
    }
  }
  void arrive(Rank rank, const std::vector<std::size_t>& units) {
    const auto r = static_cast<std::size_t>(rank);
    for (const std::size_t unit : units) {
      if (moves_) {
        const Rank wanted = destinations_[unit / parts_];
        if (wanted >= 0 && places_[unit] == wanted) --count_[static_cast<std::size_t>(wanted)];
        if (wanted >= 0 && rank == wanted) ++count_[r];
        places_[unit] = rank;
      } else if (!has_[r * places_.size() + unit]) {
        has_[r * places_.size() + unit] = true;
        ++count_[r];
      }
    }
  }
  std::vector<double> shares() const {
    std::vector<double> shares;
    for (std::size_t r = 0; r < count_.size(); ++r) {
      shares.push_back(
          all_[r] == 0 ? -1 : static_cast<double>(count_[r]) / static_cast<double>(all_[r]));
    }
    return shares;
  }

 private:
  bool moves_;
  std::size_t parts_;
  const std::vector<Rank>& destinations_;
  std::vector<std::size_t> count_, all_;  // for each node: units that it has, that it ends with
  std::vector<Rank> places_;              // for units that move
  std::vector<bool> has_;                 // for the others
};

/// Blocks that are moved or copied.
void follow_moves(const Collective& collective, const Schedule& schedule, const Contract& contract,
                  PlayBlocks& result) {
  const Topology& topology = schedule.topology;
  result.parts = collective.parts(topology);
  const auto parts = static_cast<std::size_t>(result.parts);
  for (Rank rank = 0, sum = 0; rank <= contract.nodes; ++rank) {
    result.bases.push_back(static_cast<std::size_t>(sum));
    if (rank < contract.nodes) sum += contract.gives(rank);
  }
  const std::size_t blocks = result.bases.back();
  result.units = blocks * parts;
  std::vector<Rank> destinations(blocks, -1);
  bool moves = true, pairs = blocks == static_cast<std::size_t>(contract.nodes) * contract.nodes;
  for (Rank rank = 0; rank < contract.nodes; ++rank) {
    for (Rank b = 0; b < contract.ends_with(rank); ++b) {
      const Content content = contract.result(rank, b);
      if (content.first == content.last || contract.size(content) == 0) continue;
      const std::size_t unit = result.bases[static_cast<std::size_t>(content.first)] +
                               static_cast<std::size_t>(content.block);
      moves = moves && destinations[unit] < 0;
      destinations[unit] = rank;
    }
  }
  for (std::size_t unit = 0; pairs && unit < blocks; ++unit) {
    pairs = destinations[unit] == static_cast<Rank>(unit) % contract.nodes;
  }
  result.kind = moves ? "moves" : "copies";
  const bool empty = std::ranges::find(destinations, -1) != destinations.end();
  if (moves ? !pairs : empty) result.destinations = destinations;

  result.direct = moves && pairs && parts == 1;
  std::optional<Holdings> holdings;
  if (contract.nodes <= most_holders) {
    holdings.emplace(result, contract.nodes, destinations);
    result.held.push_back(holdings->shares());
  }
  Packer packer;
  Words words(contract.nodes);
  std::vector<std::size_t> units;
  const NamedListener listener{
      .posted =
          [&](std::size_t, Rank from, const OpRecord& op, std::span<const NamedValue> values) {
            if (op.kind != Op::Kind::send) return;
            units.clear();
            for (const NamedValue& value : values)
              units.push_back((result.bases[value.word] + static_cast<std::size_t>(value.block)) *
                                  parts +
                              static_cast<std::size_t>(value.part));
            put_runs(packer, units);
            if (holdings) holdings->arrive(op.peer, units);
            result.moved += units.size();
            result.direct = result.direct && units.size() == 1 &&
                            units[0] == static_cast<std::size_t>(from) * contract.nodes + op.peer;
          },
      .end_step =
          [&](std::size_t) {
            if (holdings) result.held.push_back(holdings->shares());
          }};
  run_with_names(collective, schedule, contract.in_place, words, listener, &contract);
  if (!result.direct) result.runs = packer.packed();
}

/// A barrier moves no data. Each message carries the set of nodes that its sender knows to have
/// arrived.
void follow_news(const Schedule& schedule, PlayBlocks& result) {
  const auto nodes = static_cast<std::size_t>(schedule.topology.nodes());
  result.kind = "copies";
  result.units = nodes;
  for (std::size_t rank = 0; rank <= nodes; ++rank) result.bases.push_back(rank);
  std::vector<std::set<std::size_t>> known(nodes);
  for (std::size_t rank = 0; rank < nodes; ++rank) known[rank] = {rank};
  const auto tell = [&] {
    if (nodes > static_cast<std::size_t>(most_holders)) return;
    std::vector<double>& held = result.held.emplace_back();
    for (const auto& all : known) {
      held.push_back(static_cast<double>(all.size()) / static_cast<double>(nodes));
    }
  };
  tell();
  Packer packer;
  for (std::size_t step = 0; step < schedule.steps(); ++step) {
    std::vector<std::pair<std::size_t, std::vector<std::size_t>>> arrivals;
    for (std::size_t rank = 0; rank < nodes; ++rank) {
      for (const OpRecord& op : schedule.ops(static_cast<Rank>(rank), step)) {
        if (op.kind != Op::Kind::send) continue;
        std::vector<std::size_t> units(known[rank].begin(), known[rank].end());
        put_runs(packer, units);
        result.moved += units.size();
        arrivals.emplace_back(op.peer, std::move(units));
      }
    }
    for (const auto& [to, units] : arrivals) known[to].insert(units.begin(), units.end());
    tell();
  }
  result.runs = packer.packed();
}

// Reductions: the ranks whose operands a partial result contains.

bool contains(const Runs& all, const Runs& some) {
  return std::ranges::all_of(some, [&](const auto& run) {
    return std::ranges::any_of(
        all, [&](const auto& a) { return a.first <= run.first && run.second <= a.second; });
  });
}
Runs united(Runs a, const Runs& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::ranges::sort(a);
  Runs result;
  for (const auto& run : a) {
    if (result.empty() || run.first > result.back().second) result.push_back(run);
    result.back().second = std::max(result.back().second, run.second);
  }
  return result;
}

/// The ranks in a combination.
Runs ranks_of(const Words& words, WordId word) {
  Runs runs;
  for (const Rank rank : words.nodes_of(word)) {
    const auto r = static_cast<std::size_t>(rank);
    if (runs.empty() || runs.back().second != r) runs.emplace_back(r, r);
    ++runs.back().second;
  }
  return united({}, runs);
}

class PartialResults {
 public:
  PartialResults(const Contract& contract, std::size_t parts, std::size_t columns,
                 const Words& words)
      : contract_(contract), parts_(parts), columns_(columns), words_(words) {
    cells_.resize(static_cast<std::size_t>(contract.nodes) * columns);
    wanted_.resize(cells_.size(), false);
    for (Rank rank = 0; rank < contract.nodes; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      for (std::size_t c = 0; c < static_cast<std::size_t>(contract.gives(rank)) * parts; ++c) {
        cells_[r * columns + c] = {{r, r + 1}};
      }
      for (Rank b = 0; b < contract.ends_with(rank); ++b) {
        const Content content = contract.result(rank, b);
        for (std::size_t i = 0; i < parts; ++i) {
          wanted_[r * columns + static_cast<std::size_t>(content.block) * parts + i] = true;
        }
      }
    }
  }

  void message(Rank from, Rank to, std::span<const NamedValue> values) {
    for (const NamedValue& value : values) {
      const std::size_t column = static_cast<std::size_t>(value.block) * parts_ +
                                 static_cast<std::size_t>(value.part),
                        here = static_cast<std::size_t>(from) * columns_ + column;
      if (!wanted_[here]) given_away_.push_back(here);
      arrivals_.emplace_back(static_cast<std::size_t>(to) * columns_ + column,
                             ranks_of(words_, value.word));
      ++moved_;
    }
  }
  /// Applies the step's messages; changed cells go to the packer.
  void end_step(Packer& packer) {
    std::set<std::size_t> changed(given_away_.begin(), given_away_.end());
    for (const std::size_t cell : given_away_) cells_[cell] = {};
    for (auto& [at, ranks] : arrivals_) {
      Runs& cell = cells_[at];
      if (contains(cell, ranks)) continue;
      cell = contains(ranks, cell) ? std::move(ranks) : united(std::move(cell), ranks);
      changed.insert(at);
    }
    given_away_.clear(), arrivals_.clear();
    packer.put(changed.size());
    std::size_t last = 0;
    for (const std::size_t cell : changed) {
      packer.put(cell - last);
      packer.put(cells_[cell].size());
      for (const auto& [first, end] : cells_[cell]) {
        packer.put(first);
        packer.put(end - first - 1);
      }
      last = cell;
    }
  }

  /// For each node: the share of all operands in the fullest of its partial results.
  std::vector<double> shares() const {
    std::vector<double> shares;
    for (std::size_t at = 0; at < cells_.size(); at += columns_) {
      std::size_t most = 0;
      for (std::size_t c = 0; c < columns_; ++c) {
        std::size_t ranks = 0;
        for (const auto& [first, end] : cells_[at + c]) ranks += end - first;
        most = std::max(most, ranks);
      }
      shares.push_back(static_cast<double>(most) / static_cast<double>(contract_.nodes));
    }
    return shares;
  }

  /// Whether every node has its final result.
  bool complete() const {
    for (Rank rank = 0; rank < contract_.nodes; ++rank) {
      for (Rank b = 0; b < contract_.ends_with(rank); ++b) {
        const Content content = contract_.result(rank, b);
        if (content.first == content.last) continue;
        const Runs all{
            {static_cast<std::size_t>(content.first), static_cast<std::size_t>(content.last)}};
        for (std::size_t i = 0; i < parts_; ++i) {
          const std::size_t column = static_cast<std::size_t>(content.block) * parts_ + i;
          if (!contains(cells_[static_cast<std::size_t>(rank) * columns_ + column], all))
            return false;
        }
      }
    }
    return true;
  }
  std::size_t moved() const { return moved_; }

 private:
  const Contract& contract_;
  std::size_t parts_, columns_;
  const Words& words_;
  std::vector<Runs> cells_;
  std::vector<bool> wanted_;
  std::vector<std::size_t> given_away_;                 // in this step
  std::vector<std::pair<std::size_t, Runs>> arrivals_;  // cells, and what comes there
  std::size_t moved_ = 0;
};

void follow_partial_results(const Collective& collective, const Schedule& schedule,
                            const Contract& contract, PlayBlocks& result) {
  const Topology& topology = schedule.topology;
  result.parts = collective.parts(topology);
  const auto parts = static_cast<std::size_t>(result.parts);
  Rank most = 0;
  for (Rank rank = 0; rank < contract.nodes; ++rank) most = std::max(most, contract.gives(rank));
  const std::size_t columns = static_cast<std::size_t>(most) * parts;
  const std::size_t cells = columns * static_cast<std::size_t>(contract.nodes);
  constexpr std::size_t most_cells = std::size_t{1} << 20;
  if (cells > most_cells) {
    result.reason =
        fmt::format("{} partial results, the limit for tracking is {}", cells, most_cells);
    return;
  }
  result.units = columns;
  Words words(contract.nodes);
  PartialResults partial(contract, parts, columns, words);
  const bool holders = contract.nodes <= most_holders;
  if (holders) result.held.push_back(partial.shares());
  Packer packer;
  const NamedListener listener{
      .posted =
          [&](std::size_t, Rank from, const OpRecord& op, std::span<const NamedValue> values) {
            if (op.kind == Op::Kind::send) partial.message(from, op.peer, values);
          },
      .end_step =
          [&](std::size_t) {
            partial.end_step(packer);
            if (holders) result.held.push_back(partial.shares());
          }};
  run_with_names(collective, schedule, contract.in_place, words, listener, &contract);
  if (!partial.complete()) {
    result.reason = "the payloads alone do not show which operands each node has combined";
    result.held.clear();
    return;
  }
  result.kind = "intervals";
  result.moved = partial.moved();
  result.runs = packer.packed();
}

}  // namespace

PlayBlocks follow_blocks(const Collective& collective, const Schedule& schedule, std::uint64_t seed,
                         bool in_place) {
  PlayBlocks result;
  const Topology& topology = schedule.topology;
  const Contract contract =
      contract_of(collective, topology.nodes(), unit_block_bytes(collective, topology), seed,
                  Pattern::tags, in_place);
  if (contract.operation == operations::barrier) {
    follow_news(schedule, result);
  } else if (contract.operation->reduces) {
    follow_partial_results(collective, schedule, contract, result);
  } else {
    follow_moves(collective, schedule, contract, result);
  }
  return result;
}

}  // namespace wormcube::apps
