// Broadcast by the best of what we have.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/broadcast/plan.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/broadcast/peel.hpp"
#include "wormcube/collectives/broadcast/quad.hpp"

namespace wormcube {

TorusPlan plan_torus_broadcast(std::span<const Rank> sizes) {
  TorusPlan best;
  best.steps = peel_steps(sizes, 0);
  for (int axes = 1; axes <= static_cast<int>(sizes.size()); ++axes) {
    const int peeled = peel_steps(sizes, axes);
    if (axes == 2 && can_quarter(sizes) && peeled + quarter_steps(sizes) < best.steps) {
      best = {axes, true, {}, peeled + quarter_steps(sizes)};
    }
    VirtualTorus squeezed = best_virtual_torus(sizes.first(axes));
    if (peeled + squeezed.steps < best.steps) {
      const int steps = peeled + squeezed.steps;
      best = {axes, false, std::move(squeezed), steps};
    }
  }
  return best;
}

namespace {

/// All nodes of a network make the same plan, and that takes longer than a node's steps: each
/// thread keeps the last one.
const TorusPlan& kept_plan(std::span<const Rank> sizes) {
  struct Kept {
    std::vector<Rank> sizes;
    TorusPlan plan;
  };
  thread_local Kept kept;
  if (!std::ranges::equal(kept.sizes, sizes)) {
    kept = {std::vector(sizes.begin(), sizes.end()), plan_torus_broadcast(sizes)};
  }
  return kept.plan;
}

}  // namespace

void broadcast_plan(Node& node, Span message, Rank root, const Packets& packets) {
  require_broadcast_plan(node.topology(), root, packets);
  Itinerary itinerary(node.topology(), root, node.rank());
  const TorusPlan& plan = kept_plan(itinerary.sizes());
  peel(itinerary, plan.peeled_to);
  if (plan.quarters) {
    quarter(itinerary);
  } else if (plan.peeled_to > 0) {
    squeeze(itinerary, plan.squeezed);
  }
  travel(node, message, itinerary, packets);
}

void require_broadcast_plan(const Topology& topology, Rank root, const Packets& packets) {
  require_torus_broadcast("plan", topology, root, packets);
}

Prediction predict_broadcast_plan(const Topology& topology, const Packets& packets) {
  return predict_tree(plan_torus_broadcast(axis_sizes(topology)).steps, packets);
}

namespace algorithms {

WORMCUBE_ALGORITHM(broadcast_plan){
    .operation = operations::broadcast,
    .name = "plan",
    .summary = "the best of peel, squeeze and quad together; every torus",
    .source = "ours",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .remark = "our extension",
    .options = {packets_option(), period_option()},
    .require =
        [](const Setting& setting) {
          require_broadcast_plan(setting.topology, setting.arguments.root,
                                 packets_of(setting.options));
        },
    .predict =
        [](const Setting& setting) {
          return predict_broadcast_plan(setting.topology, packets_of(setting.options));
        },
    .program =
        [](Node& node, const Call& call) {
          wormcube::broadcast_plan(node, call.output.all(), call.arguments.root,
                                   packets_of(call.options));
        },
    .parts = packet_parts,
};

}  // namespace algorithms

}  // namespace wormcube
