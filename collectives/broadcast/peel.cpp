// Broadcast by peeling: one dimension after another, with all ports, no alignment.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/broadcast/distribution.hpp"
#include "wormcube/collectives/broadcast/itinerary.hpp"
#include "wormcube/collectives/broadcast/torus_trees.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

namespace {

/// The axes along which a message may step aside: a ring of 2 is one cable, with one port.
std::vector<int> sideways(std::span<const Rank> sizes, int axis) {
  std::vector<int> usable;
  for (int lower = 0; lower < axis; ++lower) {
    if (sizes[lower] >= 3) usable.push_back(lower);
  }
  return usable;
}

}  // namespace

void peel(Itinerary& itinerary, int lowest) {
  std::vector<int> by(itinerary.axes()), holder(itinerary.axes());
  for (int axis = itinerary.axes() - 1; axis >= lowest; --axis) {
    const std::vector<int> aside = sideways(itinerary.sizes(), axis);
    const int straight = static_cast<int>(aside.size());  // the last row
    const auto hops = [&](int row, int alpha) -> const std::vector<int>& {
      std::ranges::fill(by, 0);
      if (row < straight) by[aside[row]] = alpha < 0 ? -1 : 1;
      by[axis] = alpha;
      return by;
    };
    const Segment ring = Segment::around(itinerary.size(axis));
    const Distribution distribution(ring, straight + 1);

    // The informed node of this node's hyperplane.
    std::ranges::fill(holder, 0);
    int last_step = -1, last_row = 0, last_alpha = 0;
    const auto served =
        distribution.follow(offset_in(ring, itinerary.position[axis], itinerary.size(axis)),
                            [&](int step, int row, int alpha) {
                              if (row < straight) holder[aside[row]] += alpha < 0 ? -1 : 1;
                              last_step = step, last_row = row, last_alpha = alpha;
                            });
    bool is_holder = true;
    for (int lower = 0; lower < axis; ++lower) {
      Rank& x = itinerary.position[lower];
      x = mod(x - holder[lower], itinerary.size(lower));
      is_holder = is_holder && x == 0;
    }
    if (is_holder) {
      if (last_step >= 0) itinerary.arrive(last_step, hops(last_row, last_alpha));
      distribution.serve(
          served, [&](int step, int row, int alpha) { itinerary.depart(step, hops(row, alpha)); });
    }
    itinerary.end_phase(distribution.steps());
  }
}

int peel_steps(std::span<const Rank> sizes, int lowest) {
  int steps = 0;
  for (int axis = static_cast<int>(sizes.size()) - 1; axis >= lowest; --axis) {
    const int rows = 1 + static_cast<int>(sideways(sizes, axis).size());
    steps += rounds(sizes[axis], 2 * rows + 1);
  }
  return steps;
}

namespace {

/// Broadcast: the root's message ends on every node.
///
/// Along the first dimension a message leaves by every port: one hop along another dimension, if
/// that has 3 nodes or more, and then straight. That leaves one informed node in every hyperplane,
/// which continues inside it.
///
/// Network  any torus; all ports; any root.
/// Cost     sum over dimensions j = 1, 2, .. (the last one first) of ceil(log_{2w+1} n_j) steps of
///          the whole message, with w = 1 + the dimensions before it of 3 nodes or more. Every node
///          receives once.
/// Links    free of contention; no hop is longer than half a ring, none of half a ring goes '-'.
/// Source   ours, after the stages of Wang and Tseng.
void broadcast_peel(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  Itinerary itinerary(node.topology(), root, node.rank());
  peel(itinerary, 0);
  travel(node, call, itinerary);
}

Prediction predict_broadcast_peel(const Setting& setting) {
  return predict_tree(peel_steps(axis_sizes(setting.topology), 0), setting.options);
}

}  // namespace

WORMCUBE_ALGORITHM(broadcast_peel){
    .operation = operations::broadcast,
    .name = "peel",
    .summary = "one dimension after another on all ports, without alignment; every torus",
    .source = "ours, after Wang and Tseng",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .remark = "our extension",
    .options = {packets_option(), period_option()},
    .require = [](const Setting& setting) { require_torus_broadcast("peel", setting); },
    .predict = predict_broadcast_peel,
    .selection = Selection::by_name,  // plan uses it where it is best
    .program = broadcast_peel,
    .parts = packet_parts,
};

}  // namespace wormcube
