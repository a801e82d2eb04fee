// Reduce-scatters on tori from one table for each dimension, indexed by displacement.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/cost.hpp"
#include "wormcube/collectives/kit/handover.hpp"

#include <span>
#include <vector>

namespace wormcube {

/// A reduce-scatter on one ring: when the partial result for the node x ahead (0 < x < n) leaves,
/// and by how many signed hops.
struct RingRule {
  struct Turn {
    int step = 0, hops = 0;
  };
  int steps = 0;
  std::vector<std::vector<Turn>> turns = {};  ///< by share and x; [..][0] is unused
  /// Nodes at odd coordinates do the same with all signs changed, so partners exchange.
  bool alternating = false;
};

/// One copy: a rule for each dimension, and the order of their steps.
struct TorusCopy {
  struct Slot {
    int dimension = -1;  ///< -1: no node moves
    int step = 0;
  };
  std::vector<RingRule> rules = {};
  std::vector<Slot> slots = {};
  int shares = 1;
};

/// A block leaves in the earliest slot among those of its displacements in all dimensions.
Handovers torus_handovers(const Topology& topology, const TorusCopy& copy);
/// One node's plans, one for each copy.
std::vector<HandoverPlan> torus_plans(const Topology& topology, std::span<const TorusCopy> copies,
                                      Rank r);

/// What every node of a ring or torus sends along one dimension in a step.
struct TorusMessage {
  int dimension, hops;
  double blocks;
  bool alternating = false;  ///< nodes at odd coordinates send in the other direction
};
/// Start-ups, transmission, the load of links, and what messages take with it, step by step.
Prediction torus_cost(const Topology& topology, std::span<const std::vector<TorusMessage>> steps);

/// The cost of all copies together, each of an equal part of all blocks: in start-ups, blocks and
/// links.
Prediction torus_handover_cost(const Topology& topology, std::span<const TorusCopy> copies);
/// The same for the all-gather: nothing is combined.
Prediction allgather_cost(Prediction reduce_scatter);
/// For the all-reduce on p nodes, in vectors.
Prediction allreduce_cost(Prediction reduce_scatter, Rank p);

/// The dimensions of more than one node.
std::vector<int> wide_dimensions(const Topology& topology);

/// Orders of steps, if a dimension of n nodes has steps(n): step 0 in all dimensions (the first of
/// them `first`), step 1 in all, ..
/// \param gaps  a dimension without that step leaves its slot empty, so that copies do not meet
template <class Steps>
std::vector<TorusCopy::Slot> slots_by_step(const Topology& topology, int first, bool gaps,
                                           Steps steps) {
  const std::vector<int> wide = wide_dimensions(topology);
  std::vector<TorusCopy::Slot> slots;
  int most = 0;
  for (const int d : wide) most = std::max(most, static_cast<int>(steps(topology.size(d))));
  for (int s = 0; s < most; ++s) {
    for (std::size_t t = 0; t < wide.size(); ++t) {
      const int d = wide[(static_cast<std::size_t>(first) + t) % wide.size()];
      if (s < steps(topology.size(d))) {
        slots.push_back({d, s});
      } else if (gaps) {
        slots.emplace_back();
      }
    }
  }
  return slots;
}

}  // namespace wormcube
