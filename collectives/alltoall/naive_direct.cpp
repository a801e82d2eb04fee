// Total exchange by single blocks: shifts, packed first-fit into steps without contention.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

namespace wormcube {

namespace {

// The plan is made of p^2 routes: 0.6 s for mesh:32x32 (2 cores, g++ 12 -O1).
constexpr Rank most_nodes_naive = 1024;

/// The moves from one node to another, last coordinate first.
std::vector<Move> moves_between(const Topology& topology, Rank from, Rank to) {
  std::vector<Move> moves;
  for (int d = topology.dimensions() - 1; d >= 0; --d) {
    const int hops =
        topology.factor(d).hops(topology.coordinate(from, d), topology.coordinate(to, d));
    if (hops != 0) moves.push_back({d, hops});
  }
  return moves;
}

/// The step of its shift in which each message travels.
class Plan {
 public:
  explicit Plan(const Topology& topology)
      : topology_(topology),
        nodes_(topology.nodes()),
        steps_(nodes_, 0),
        step_of_(nodes_ * nodes_) {
    std::vector<std::size_t> route;
    constexpr int bits = 64;
    for (Rank t = 1; t < nodes_; ++t) {
      // Bit i of busy[w][link]: a message of step w * bits + i takes the link.
      std::vector<std::vector<std::uint64_t>> busy;
      for (Rank r = 0; r < nodes_; ++r) {
        links(r, (r + t) % nodes_, route);
        std::size_t word = 0;
        std::uint64_t taken = 0;
        for (;; ++word) {
          if (word == busy.size()) busy.emplace_back(nodes_ * topology.dimensions() * 2, 0);
          taken = 0;
          for (const std::size_t link : route) taken |= busy[word][link];
          if (~taken != 0) break;
        }
        const int bit = std::countr_one(taken);
        for (const std::size_t link : route) busy[word][link] |= std::uint64_t{1} << bit;
        const Rank step = static_cast<Rank>(word) * bits + bit;
        step_of_[t * nodes_ + r] = static_cast<std::uint16_t>(step);
        steps_[t] = std::max(steps_[t], step + 1);
      }
    }
  }

  const Topology& topology() const { return topology_; }
  Rank steps(Rank shift) const { return steps_[shift]; }
  Rank step_of(Rank shift, Rank source) const { return step_of_[shift * nodes_ + source]; }

 private:
  /// A directed link by the node that it leaves, its dimension and its sign.
  void links(Rank from, Rank to, std::vector<std::size_t>& route) const {
    route.clear();
    for (const auto [d, hops] : moves_between(topology_, from, to)) {
      const int sign = hops > 0 ? 1 : -1;
      for (int i = 0; i < std::abs(hops); ++i) {
        route.push_back((from * topology_.dimensions() + d) * 2 + (hops > 0 ? 1 : 0));
        from = topology_.neighbour(from, d, sign);
      }
    }
  }

  Topology topology_;
  Rank nodes_;
  std::vector<Rank> steps_;             // by shift
  std::vector<std::uint16_t> step_of_;  // by shift and source
};

/// The plan of a network, a pure function of it. All nodes of a run request the same one, so the
/// last one is kept.
std::shared_ptr<const Plan> plan_for(const Topology& topology) {
  static std::mutex mutex;
  static std::shared_ptr<const Plan> last;
  const std::scoped_lock lock(mutex);
  if (last == nullptr || !(last->topology() == topology)) last = std::make_shared<Plan>(topology);
  return last;
}

/// Total exchange (all-to-all, personalised): node r's block q ends as node q's block r.
///
/// Shift t sends one block from each node r to node r+t. Its messages are packed into steps
/// first-fit: each, by ascending r, goes into the first step in which all links of its route are
/// free. The baseline that clever direct algorithms have to beat. Every node needs the whole plan;
/// it is computed once for a network and kept.
///
/// Network   products of lines and rings, up to 1024 nodes; one-port, full duplex.
/// Cost      one start-up of one block for each step of the packing, no closed form: 196 on
///           mesh:8x8, where the bisection bound is 128; 87 on mesh:6x6 (54).
/// Links     free of contention by construction.
void alltoall_naive_direct(Node& node, const Call& call) {
  const auto plan = plan_for(node.topology());
  const Rank p = node.size(), r = node.rank();

  node.local([&] { copy(call.input[r], call.output[r]); });
  for (Rank t = 1; t < p; ++t) {
    const Rank to = mod(r + t, p), from = mod(r - t, p);
    const std::vector<Move> moves = moves_between(node.topology(), r, to);
    const std::array ops{send(std::span(moves), call.input[to]),
                         receive_result(node, from, call.output)};
    for (Rank s = 0; s < plan->steps(t); ++s) {
      const bool sends = plan->step_of(t, r) == s, receives = plan->step_of(t, from) == s;
      node.step(std::span(ops).subspan(sends ? 0 : 1, (sends ? 1 : 0) + (receives ? 1 : 0)));
    }
  }
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_naive_direct){
    .operation = operations::alltoall,
    .name = "naive-direct",
    .summary = "single blocks, in shifts packed by first fit; lines and rings of up to 1024 nodes",
    .source = "none; a baseline for scott-direct",
    .contention_free = true,
    .exactly_once = true,
    .remark = "no closed form: predictions come from its plan",
    .needs = {needs::lines_and_rings(), needs::nodes_at_most(most_nodes_naive)},
    .instead = {"suh-mesh", "shift"},
    .predict = [](const Setting& setting) -> Prediction {
      const Topology& topology = setting.topology;
      const auto plan = plan_for(topology);
      double steps = 0;
      for (Rank t = 1; t < topology.nodes(); ++t) steps += plan->steps(t);
      return {.startups = steps,
              .transmission_blocks = steps,
              .rearranged_blocks = 0,
              .working_blocks = 0};
    },
    .selection = Selection::by_name,
    .program = alltoall_naive_direct,
};

}  // namespace wormcube
