// Broadcast by the best combination of peel, squeeze and quad, for any torus.
// SPDX-License-Identifier: Apache-2.0

#include "wormcube/collectives/broadcast/torus_trees.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

namespace {

struct TorusPlan {
  int peeled_to = 0;  // axes from this one on are peeled; the others:
  bool quarters = false;
  VirtualTorus squeezed;
  int steps = 0;
};

/// The plan with the fewest steps; of equal ones the one that peels most.
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

/// All nodes of a network compute the same plan, and that takes longer than a node's steps: each
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

/// Broadcast: the root's message ends on every node.
///
/// Some of the first dimensions are peeled off, none or all; the rest is squeezed or, if it is a
/// square with sides of a power of two, quartered. The plan with the fewest steps is used.
///
/// Network  any torus; all ports; any root.
/// Cost     the fewest steps among these plans, each of the whole message; never more than those of
///          wang-tseng, peel, squeeze and quad.
/// Links    free of contention, if routers honour the signs of the hops.
void broadcast_plan(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  Itinerary itinerary(node.topology(), root, node.rank());
  const TorusPlan& plan = kept_plan(itinerary.sizes());
  peel(itinerary, plan.peeled_to);
  if (plan.quarters) {
    quarter(itinerary);
  } else if (plan.peeled_to > 0) {
    squeeze(itinerary, plan.squeezed);
  }
  travel(node, call, itinerary);
}

Prediction predict_broadcast_plan(const Setting& setting) {
  return predict_tree(plan_torus_broadcast(axis_sizes(setting.topology)).steps, setting.options);
}

}  // namespace

WORMCUBE_ALGORITHM(broadcast_plan){
    .operation = operations::broadcast,
    .name = "plan",
    .summary = "the best combination of peel, squeeze and quad; every torus",
    .source = "ours",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .remark = "our extension",
    .options = {packets_option(), period_option()},
    .require = [](const Setting& setting) { require_torus_broadcast("plan", setting); },
    .predict = predict_broadcast_plan,
    .program = broadcast_plan,
    .parts = packet_parts,
};

}  // namespace wormcube
