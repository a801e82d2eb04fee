// Expands rounds, and follows one node's plan.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/product/plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <stdexcept>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// Calls f(exchange, t) for every exchange and step of the round, and step_done after each step.
template <class F, class StepDone>
void for_each_step(const Round& round, F f, StepDone step_done) {
  for (std::size_t i = 0; i < round.steps(); ++i) {
    const std::size_t t = round.taken.empty() ? i : round.taken[i];
    for (const Exchange& exchange : round.exchanges) {
      if (t < exchange.exchange->steps()) f(exchange, t);
    }
    step_done();
  }
}

/// Calls f(exchange, this node's digit, transfer, is_send) for each transfer that the node takes
/// part in, in the order of NodePlan::places, and step_done after each step.
template <class F, class StepDone>
void for_each_transfer(Rank rank, const Rounds& rounds, F f, StepDone step_done) {
  for (const Round& round : rounds) {
    for_each_step(
        round,
        [&](const Exchange& exchange, std::size_t t) {
          const ExchangeTemplate& transfers = *exchange.exchange;
          const Rank digit = exchange.axis.digit(rank);
          for (const std::uint32_t i : transfers.sent_by(digit, t)) {
            f(exchange, digit, transfers.transfers()[i], true);
          }
          for (const std::uint32_t i : transfers.received_by(digit, t)) {
            f(exchange, digit, transfers.transfers()[i], false);
          }
        },
        step_done);
  }
}

/// A hash table of the blocks that a node holds: open addressing, at most half full.
class HeldBlocks {
 public:
  void insert(const Block& block, Rank place) {
    if (2 * ++count_ > slots_.size()) grow();
    slots_[find(block)] = {block, place};
  }
  /// Removes a block and returns its place; -1 if it is not here.
  Rank take(const Block& block) {
    std::size_t hole = find(block);
    const Rank place = slots_[hole].place;
    if (place < 0) return place;
    --count_;
    // Entries that follow without a gap move up, unless they would lie before the start of their
    // search.
    for (std::size_t i = after(hole); slots_[i].place >= 0; i = after(i)) {
      const std::size_t moved = i - first(slots_[i].block), gap = i - hole;
      if ((moved & mask()) < (gap & mask())) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole].place = -1;
    return place;
  }

 private:
  struct Slot {
    Block block{0, 0};
    Rank place = -1;
  };
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t after(std::size_t i) const { return (i + 1) & mask(); }
  std::size_t first(const Block& block) const {
    const auto key = static_cast<std::uint64_t>(block.source) << 32 |
                     static_cast<std::uint32_t>(block.destination);
    return (key * 0x9E3779B97F4A7C15U >> 32) & mask();
  }
  /// The slot of the block, or the free one where it belongs.
  std::size_t find(const Block& block) const {
    std::size_t i = first(block);
    while (slots_[i].place >= 0 && slots_[i].block != block) i = after(i);
    return i;
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.place >= 0) slots_[find(slot.block)] = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(16);
  std::size_t count_ = 0;
};

/// Where a node's blocks are, as NodePlan::places defines it.
class Places {
 public:
  explicit Places(Rank rank) : rank_(rank) {}

  /// The block leaves; its place is free from the next step on.
  Rank leave(const Block& block) {
    if (block.source == rank_) return block.destination;
    const Rank place = held_.take(block);
    if (place < 0) {
      throw std::logic_error(
          fmt::format("product exchange: node {} does not hold the block {} -> {}", rank_,
                      block.source, block.destination));
    }
    leaving_.push_back(place);
    return ~place;
  }
  Rank arrive(const Block& block) {
    if (block.destination == rank_) return block.source;
    if (free_.empty()) free_.push_back(count_++);
    const Rank place = free_.back();
    free_.pop_back();
    held_.insert(block, place);
    return ~place;
  }
  void step_done() {
    free_.insert(free_.end(), leaving_.begin(), leaving_.end());
    leaving_.clear();
  }
  Rank count() const { return count_; }

 private:
  Rank rank_, count_ = 0;
  HeldBlocks held_;
  std::vector<Rank> free_, leaving_;
};

/// Sends to a neighbour: along a line or ring with the sign that leads there, else by rank.
Op send_to(const Topology& topology, Rank rank, Rank peer, ConstSpan data) {
  int d = 0;  // where they differ: only later coordinates make less than its stride
  while (topology.stride(d) > std::abs(peer - rank)) ++d;
  const Graph& graph = topology.factor(d);
  if (!graph.has_direction()) return send(peer, data);
  return send(Move{d, graph.hops(topology.coordinate(rank, d), topology.coordinate(peer, d))},
              data);
}

}  // namespace

std::size_t Round::steps() const {
  if (!taken.empty()) return taken.size();
  std::size_t most = 0;
  for (const Exchange& exchange : exchanges) most = std::max(most, exchange.exchange->steps());
  return most;
}

std::size_t total_steps(const Rounds& rounds) {
  std::size_t sum = 0;
  for (const Round& round : rounds) sum += round.steps();
  return sum;
}

std::shared_ptr<const Rounds> kept_rounds(Rounds (*make)(const Topology&),
                                          const Topology& topology) {
  struct Last {
    Topology topology;
    std::shared_ptr<const Rounds> rounds;
  };
  static std::mutex mutex;
  static std::map<Rounds (*)(const Topology&), Last> last;
  const std::scoped_lock lock(mutex);
  const auto found = last.find(make);
  if (found != last.end() && found->second.topology == topology &&
      found->second.topology.name() == topology.name()) {  // one of equal graphs may know its group
    return found->second.rounds;
  }
  auto rounds = std::make_shared<const Rounds>(make(topology));
  last.insert_or_assign(make, Last{topology, rounds});
  return rounds;
}

ExchangeTemplate expand(Rank nodes, const Rounds& rounds) {
  std::vector<std::vector<BlockMove>> steps(1);
  for (const Round& round : rounds) {
    for_each_step(
        round,
        [&](const Exchange& exchange, std::size_t t) {
          for (Rank line = 0; line < nodes; ++line) {
            if (exchange.axis.digit(line) != 0) continue;  // one node of each copy
            for (const BlockMove& transfer : exchange.exchange->step(t)) {
              const auto block = exchange.carried(line, transfer);
              if (!block) continue;
              steps.back().push_back({exchange.axis.with(line, transfer.from),
                                      exchange.axis.with(line, transfer.to), block->source,
                                      block->destination});
            }
          }
        },
        [&] { steps.emplace_back(); });
  }
  return {nodes, 1, steps};
}

NodePlan make_plan(Rank rank, const Rounds& rounds) {
  NodePlan plan;
  std::size_t transfers = 0;
  const auto count = [&](const auto&...) { ++transfers; };
  for_each_transfer(rank, rounds, count, [] {});
  plan.places.reserve(transfers);
  Places places(rank);
  for_each_transfer(
      rank, rounds,
      [&](const Exchange& exchange, Rank /*digit*/, const BlockMove& transfer, bool is_send) {
        const auto block = exchange.carried(rank, transfer);
        plan.places.push_back(!block    ? NodePlan::left_out
                              : is_send ? places.leave(*block)
                                        : places.arrive(*block));
      },
      [&] { places.step_done(); });
  plan.held = places.count();
  return plan;
}

void run_rounds(Node& node, std::string_view algorithm, Rounds (*make)(const Topology&),
                ConstBlocks out, Blocks in) {
  struct Kept {
    std::shared_ptr<const Rounds> rounds;
    NodePlan plan;
  };
  const auto& kept = node.plan<Kept>(algorithm, {}, [&] {
    const auto rounds = kept_rounds(make, node.topology());
    return Kept{rounds, make_plan(node.rank(), *rounds)};
  });
  run(node, *kept.rounds, kept.plan, out, in);
}

void run(Node& node, const Rounds& rounds, const NodePlan& plan, ConstBlocks out, Blocks in) {
  const Topology& topology = node.topology();
  const Rank rank = node.rank();
  const Bytes m = out.bytes();
  const Memory held = node.memory(static_cast<Bytes>(plan.held) * m, Purpose::blocks);
  node.local([&] { copy(out[rank], in[rank]); });

  std::vector<Op> ops;
  auto next = plan.places.begin();
  auto round = rounds.begin();
  std::size_t steps_left = 0;
  const auto enter_rounds = [&] {
    for (; steps_left == 0 && round != rounds.end(); ++round) {
      steps_left = round->steps();
      if (!round->name.empty()) node.phase(round->name);
    }
  };
  enter_rounds();
  for_each_transfer(
      rank, rounds,
      [&](const Exchange& exchange, Rank digit, const BlockMove& transfer, bool is_send) {
        const Rank place = *next++;
        if (place == NodePlan::left_out) return;
        const Rank peer =
            rank + ((is_send ? transfer.to : transfer.from) - digit) * exchange.axis.stride;
        const auto kept = [&] { return held.subspan(static_cast<Bytes>(~place) * m, m); };
        if (is_send) {
          ops.push_back(send_to(topology, rank, peer, place < 0 ? ConstSpan(kept()) : out[place]));
        } else {
          ops.push_back(receive(peer, place < 0 ? kept() : in[place]));
        }
      },
      [&] {
        node.step(ops);
        ops.clear();
        --steps_left;
        enter_rounds();
      });
}

}  // namespace wormcube
