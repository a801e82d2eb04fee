// The blocks that each node holds, read from the payloads of a proof.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/play.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/schedule/prove.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/core.h>

namespace wormcube::apps {
namespace {

using Runs = std::vector<std::pair<std::size_t, std::size_t>>;  // first, one after the last

/// The payloads of a step's messages, in the order of the schedule's messages. Deliveries arrive
/// receiver by receiver; those of one sender, receiver and tag in the order posted.
template <class Load>
class LoadsOfStep {
 public:
  void arrive(const Delivery& delivery, Load load) {
    loads_[{delivery.from, delivery.to, delivery.tag}].push_back(std::move(load));
  }
  template <class F>
  void for_each(const Schedule& schedule, std::size_t step, F f) {
    std::map<std::tuple<Rank, Rank, Tag>, std::size_t> taken;
    for (Rank rank = 0; rank < schedule.topology.nodes(); ++rank) {
      for (const OpRecord& op : schedule.ops(rank, step)) {
        if (op.kind != Op::Kind::send) continue;
        const std::tuple key{rank, op.peer, op.tag};
        const auto loads = loads_.find(key);
        const std::size_t number = taken[key]++;
        WORMCUBE_ASSERT(loads != loads_.end() && number < loads->second.size());
        f(rank, op.peer, loads->second[number]);
      }
    }
    loads_.clear();
  }

 private:
  std::map<std::tuple<Rank, Rank, Tag>, std::vector<Load>> loads_;
};

template <class Element, class F>
void for_each_element(std::span<const Span> pieces, std::vector<std::byte>& buffer, F f) {
  buffer.clear();
  for (const Span piece : pieces) buffer.insert(buffer.end(), piece.begin(), piece.end());
  for (std::size_t at = 0; at + sizeof(Element) <= buffer.size(); at += sizeof(Element)) {
    Element element;
    std::memcpy(&element, &buffer[at], sizeof(element));
    f(element);
  }
}

/// Collects a proof's listener calls, which come step by step. A step's payloads are passed on when
/// the next step begins.
template <class Load, class StepDone>
class StepByStep {
 public:
  StepByStep(const Schedule& schedule, StepDone done) : schedule_(schedule), done_(done) {}
  void arrive(const Delivery& delivery, Load load) {
    reach(delivery.step);
    loads_.arrive(delivery, std::move(load));
  }
  void reach(std::size_t step) {
    for (; step_ < step; ++step_) done_(step_, loads_);
  }
  void finish() { reach(schedule_.steps()); }

 private:
  const Schedule& schedule_;
  StepDone done_;
  std::size_t step_ = 0;
  LoadsOfStep<Load> loads_;
};
template <class Load, class StepDone>
StepByStep<Load, StepDone> step_by_step(const Schedule& schedule, StepDone done) {
  return {schedule, done};
}

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

/// Blocks that are moved or copied: elements that say origin, block and index.
void follow_tags(const Collective& collective, const Schedule& schedule, const Contract& contract,
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
  auto steps = step_by_step<std::vector<std::size_t>>(schedule, [&](std::size_t step, auto& loads) {
    loads.for_each(schedule, step, [&](Rank from, Rank to, std::vector<std::size_t>& units) {
      put_runs(packer, units);
      if (holdings) holdings->arrive(to, units);
      result.moved += units.size();
      result.direct = result.direct && units.size() == 1 &&
                      units[0] == static_cast<std::size_t>(from) * contract.nodes + to;
    });
    if (holdings) result.held.push_back(holdings->shares());
  });
  std::vector<std::byte> buffer;
  Verification verification(contract);
  prove(
      topology, collective_program(collective, contract, &verification),
      [&](const Delivery& delivery) {
        std::vector<std::size_t> units;
        for_each_element<std::uint64_t>(delivery.pieces, buffer, [&](std::uint64_t element) {
          const std::uint64_t tag = read_tag(contract, element), origin = tag >> 40,
                              block = tag >> 16 & 0xffffff, index = tag & 0xffff;
          if (origin >= static_cast<std::uint64_t>(contract.nodes) ||
              block >= static_cast<std::uint64_t>(contract.gives(static_cast<Rank>(origin))) ||
              (parts == 1 && index > 0))
            return;
          units.push_back((result.bases[origin] + block) * parts + (parts > 1 ? index % parts : 0));
        });
        steps.arrive(delivery, std::move(units));
      },
      ProofThreads::all);
  steps.finish();
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

/// One element of the witness that a message carries.
struct PartialResult {
  std::size_t column;
  Runs ranks;         // for an interval; of a multiset found by its sum
  std::uint64_t sum;  // for a multiset
};

class PartialResults {
 public:
  PartialResults(const Contract& contract, std::size_t parts, std::size_t columns)
      : contract_(contract), parts_(parts), columns_(columns) {
    cells_.resize(static_cast<std::size_t>(contract.nodes) * columns);
    wanted_.resize(cells_.size(), false);
    for (Rank rank = 0; rank < contract.nodes; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      for (std::size_t c = 0; c < static_cast<std::size_t>(contract.gives(rank)) * parts; ++c) {
        cells_[r * columns + c] = {{{r, r + 1}}, contract.commutes ? sum_of(rank) : 0};
      }
      for (Rank b = 0; b < contract.ends_with(rank); ++b) {
        const Content content = contract.result(rank, b);
        for (std::size_t i = 0; i < parts; ++i) {
          wanted_[r * columns + static_cast<std::size_t>(content.block) * parts + i] = true;
        }
      }
    }
  }

  /// Applies the messages of one step; changed cells go to the packer.
  template <class Loads>
  void step(Loads& loads, const Schedule& schedule, std::size_t number, Packer& packer) {
    std::set<std::size_t> changed;
    struct Arrival {
      std::size_t cell;
      Runs ranks;
      std::uint64_t sum;
    };
    std::vector<Arrival> arrivals;
    std::vector<std::size_t> given_away;
    loads.for_each(schedule, number, [&](Rank from, Rank to, std::vector<PartialResult>& carried) {
      for (PartialResult& part : carried) {
        const std::size_t here = static_cast<std::size_t>(from) * columns_ + part.column,
                          there = static_cast<std::size_t>(to) * columns_ + part.column;
        if (contract_.commutes) part.ranks = ranks_of(part.sum);
        if (part.ranks.empty()) ++unknown_;
        if (!wanted_[here]) given_away.push_back(here);
        arrivals.push_back({there, std::move(part.ranks), part.sum});
        ++moved_;
      }
    });
    for (const std::size_t cell : given_away) {
      cells_[cell] = {};
      changed.insert(cell);
    }
    for (Arrival& arrival : arrivals) {
      Cell& cell = cells_[arrival.cell];
      if (contains(cell.ranks, arrival.ranks)) continue;
      if (contains(arrival.ranks, cell.ranks)) {
        cell = {std::move(arrival.ranks), arrival.sum};
      } else {
        cell = {united(cell.ranks, arrival.ranks), cell.sum + arrival.sum};
      }
      if (contract_.commutes && cell.sum != 0) known_.try_emplace(cell.sum, cell.ranks);
      changed.insert(arrival.cell);
    }
    packer.put(changed.size());
    std::size_t last = 0;
    for (const std::size_t cell : changed) {
      packer.put(cell - last);
      packer.put(cells_[cell].ranks.size());
      for (const auto& [first, end] : cells_[cell].ranks) {
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
        for (const auto& [first, end] : cells_[at + c].ranks) ranks += end - first;
        most = std::max(most, ranks);
      }
      shares.push_back(static_cast<double>(most) / static_cast<double>(contract_.nodes));
    }
    return shares;
  }

  /// Whether every node has its final result.
  bool complete() const {
    if (unknown_ > 0) return false;
    for (Rank rank = 0; rank < contract_.nodes; ++rank) {
      for (Rank b = 0; b < contract_.ends_with(rank); ++b) {
        const Content content = contract_.result(rank, b);
        if (content.first == content.last) continue;
        const Runs all{
            {static_cast<std::size_t>(content.first), static_cast<std::size_t>(content.last)}};
        for (std::size_t i = 0; i < parts_; ++i) {
          const std::size_t column = static_cast<std::size_t>(content.block) * parts_ + i;
          if (!contains(cells_[static_cast<std::size_t>(rank) * columns_ + column].ranks, all))
            return false;
        }
      }
    }
    return true;
  }
  std::size_t moved() const { return moved_; }

 private:
  struct Cell {
    Runs ranks;
    std::uint64_t sum = 0;  // for a multiset
  };
  /// Of the multiset that holds this rank's operand alone, which is the same in all blocks.
  std::uint64_t sum_of(Rank rank) {
    std::array<std::uint64_t, sizeof(Interval) / sizeof(std::uint64_t)> element{};
    Oracle(contract_).write_input_block(rank, 0, std::as_writable_bytes(std::span(element)));
    const auto r = static_cast<std::size_t>(rank);
    known_.emplace(element[0], Runs{{r, r + 1}});
    return element[0];
  }
  /// The ranks whose operands a multiset adds up; none if it is not known.
  Runs ranks_of(std::uint64_t sum) const {
    const auto known = known_.find(sum);
    return known == known_.end() ? Runs() : known->second;
  }

  const Contract& contract_;
  std::size_t parts_, columns_;
  std::vector<Cell> cells_;
  std::vector<bool> wanted_;
  std::unordered_map<std::uint64_t, Runs> known_;
  std::size_t moved_ = 0, unknown_ = 0;
};

void follow_partial_results(const Collective& witnessed_collective, const Schedule& schedule,
                            const Contract& contract, PlayBlocks& result) {
  const Topology& topology = schedule.topology;
  result.parts = witnessed_collective.parts(topology);
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
  PartialResults partial(contract, parts, columns);
  const bool holders = contract.nodes <= most_holders;
  if (holders) result.held.push_back(partial.shares());
  Packer packer;
  auto steps =
      step_by_step<std::vector<PartialResult>>(schedule, [&](std::size_t step, auto& loads) {
        partial.step(loads, schedule, step, packer);
        if (holders) result.held.push_back(partial.shares());
      });
  std::vector<std::byte> buffer;
  Verification verification(contract);
  prove(topology, collective_program(witnessed_collective, contract, &verification),
        [&](const Delivery& delivery) {
          std::vector<PartialResult> carried;
          for_each_element<Interval>(delivery.pieces, buffer, [&](const Interval& element) {
            const std::size_t column =
                static_cast<std::size_t>(read_block(contract, element.block)) * parts +
                (parts > 1 ? element.index % parts : 0);
            if (column >= columns || (parts == 1 && element.index > 0)) return;
            std::uint64_t sum = 0;
            std::memcpy(&sum, &element, sizeof(sum));  // a multiset's first member
            const auto first = static_cast<std::size_t>(element.first);
            carried.push_back({column, {{first, static_cast<std::size_t>(element.last)}}, sum});
          });
          steps.arrive(delivery, std::move(carried));
        });
  steps.finish();
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
    follow_partial_results(witnessed(collective, contract), schedule, contract, result);
  } else {
    follow_tags(collective, schedule, contract, result);
  }
  return result;
}

}  // namespace wormcube::apps
