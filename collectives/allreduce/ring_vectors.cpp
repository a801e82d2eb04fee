// All-reduce on a ring or a line that combines passing blocks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

namespace wormcube {

namespace {

/// The aligned blocks of ranks that are complete and wait for their other halves: never more than
/// one of each level on either side of the gap that is still missing.
class Waiting {
 public:
  struct Block {
    Rank first;
    int level;  // ranks first .. first + 2^level - 1, cut off at p
    int slot;
  };
  struct Join {
    Block lower, higher;
  };

  explicit Waiting(Rank p) : p_(p), levels_(log2_ceiling(p)) {}
  /// Places for the blocks of node r, which arrive in the order r, r + 1, ..: 2 log2 p + 2 at most,
  /// and on most nodes fewer.
  static int slots(Rank p, Rank r) {
    Waiting waiting(p);
    int slots = 0;
    for (Rank t = 0; t < p; ++t) {
      const int slot = waiting.free_slot();
      slots = std::max(slots, slot + 1);
      waiting.add(mod(r + t, p), slot);
      while (waiting.grow()) {
      }
    }
    return slots;
  }

  /// A place for the next arrival.
  int free_slot() const {
    int slot = 0;
    while (std::ranges::any_of(blocks_, [&](Block b) { return b.slot == slot; })) ++slot;
    return slot;
  }
  void add(Rank rank, int slot) { blocks_.push_back({rank, 0, slot}); }
  /// Grows the newest block: beyond p, alone; otherwise with its other half if that waits.
  /// The join to do: into the slot of `lower`.
  std::optional<Join> grow() {
    for (Block& newest = blocks_.back(); newest.level < levels_; ++newest.level) {
      const Rank size = Rank{1} << newest.level, other = newest.first ^ size;
      if (other >= p_) continue;
      const auto half = std::ranges::find_if(
          blocks_, [&](Block b) { return b.first == other && b.level == newest.level; });
      if (half == blocks_.end()) return std::nullopt;
      const Join join = other < newest.first ? Join{*half, newest} : Join{newest, *half};
      const Block grown{join.lower.first, newest.level + 1, join.lower.slot};
      blocks_.pop_back();
      blocks_.erase(half);
      blocks_.push_back(grown);
      return join;
    }
    return std::nullopt;
  }
  int result() const { return blocks_.front().slot; }

 private:
  Rank p_;
  int levels_;
  std::vector<Block> blocks_;
};

/// All nodes' blocks combined in the order of ranks, on every node, with the same bits on all:
/// every block travels once round, as in the ring all-gather, and each node combines what arrives.
///
/// Node r sees r, r+1, .., p-1, 0, .., r-1. For equal bits all nodes must bracket in the same way
/// wherever they begin. So a block of 2^k ranks that starts at a multiple of 2^k is combined from
/// its halves (cut off at p), and halves wait for each other. About 2 log p partial results wait at
/// a time, instead of p blocks.
///
/// Network  one ring or line of any p; one-port.
/// Cost     (ts + tw m)(p - 1); each node combines p - 1 blocks, but not all in the same steps.
/// Links    each carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.3, problem 4.6 (iii), read as the ring's pattern.
///          The bracketing is ours.
void allreduce_ring_vectors(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const Rank p = node.size(), r = node.rank();
  const int wait = Waiting::slots(p, r);
  const Memory memory =
      node.memory(call.input.all().size() * static_cast<Bytes>(wait + 2), Purpose::blocks);
  const Blocks slots(memory, wait + 2);
  // What is sent in the next step may be combined before: it is received in two places of its own.
  std::array passing{slots[wait], slots[wait + 1]};

  Waiting waiting(p);
  const auto take = [&](Rank rank, ConstSpan block) {
    const int slot = waiting.free_slot();
    node.local([&] { copy(block, slots[slot]); });
    waiting.add(rank, slot);
    while (const auto join = waiting.grow()) {
      const Span lower = slots[join->lower.slot];
      combine(node, reduction, lower, slots[join->higher.slot], lower);
    }
  };
  take(r, call.input.all());
  const Rank previous = mod(r - 1, p), next = mod(r + 1, p);
  ConstSpan going = call.input.all();
  for (Rank t = 1; t < p; ++t) {
    const Move onward{0, node.topology().factor(0).hops(r, previous)};
    const Span coming = passing[static_cast<std::size_t>(t % 2)];
    node.step({send(onward, going), receive(next, coming)});
    take(mod(r + t, p), coming);
    going = coming;
  }
  node.local([&] { copy(slots[waiting.result()], call.output.all()); });
}

/// How much the nodes combine depends on how their blocks fit. It is counted, from the ranks alone,
/// if going through p^2 of them takes two seconds at most.
Prediction predict_ring_vectors(const Setting& setting) {
  constexpr Rank most_counted = 4096;
  const Rank p = setting.topology.nodes();
  if (p > most_counted) return {p - 1.0, p - 1.0, 0};
  std::vector<double> most(static_cast<std::size_t>(p), 0);
  int slots = 0;
  for (Rank r = 0; r < p; ++r) {
    slots = std::max(slots, Waiting::slots(p, r));
    Waiting waiting(p);
    for (Rank t = 0; t < p; ++t) {
      waiting.add(mod(r + t, p), waiting.free_slot());
      double joins = 0;
      while (waiting.grow()) ++joins;
      most[static_cast<std::size_t>(t)] = std::max(most[static_cast<std::size_t>(t)], joins);
    }
  }
  Prediction prediction{p - 1.0, p - 1.0, 0, slots + 2.0};
  prediction.combined_blocks = 0;
  for (const double joins : most) *prediction.combined_blocks += joins;
  return prediction;
}

}  // namespace

WORMCUBE_ALGORITHM(allreduce_ring_vectors){
    .operation = operations::allreduce,
    .name = "ring-vectors",
    .summary = "whole vectors travel around once and are combined as they pass; one line or ring",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.3, problem 4.6 (iii)",
    .contention_free = true,
    .exactly_once = true,
    .remark = "same brackets on all nodes: our extension",
    .needs = {needs::line_or_ring()},
    .instead = {"ring", "recursive-doubling", "mesh", "reduce-broadcast"},
    .predict = predict_ring_vectors,
    .program = allreduce_ring_vectors,
};

}  // namespace wormcube
