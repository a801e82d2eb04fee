// Broadcast by peeling.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/broadcast/peel.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/broadcast/distribution.hpp"

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

void broadcast_peel(Node& node, Span message, Rank root, const Packets& packets) {
  require_broadcast_peel(node.topology(), root, packets);
  Itinerary itinerary(node.topology(), root, node.rank());
  peel(itinerary, 0);
  travel(node, message, itinerary, packets);
}

void require_broadcast_peel(const Topology& topology, Rank root, const Packets& packets) {
  require_torus_broadcast("peel", topology, root, packets);
}

Prediction predict_broadcast_peel(const Topology& topology, const Packets& packets) {
  return predict_tree(peel_steps(axis_sizes(topology), 0), packets);
}

namespace algorithms {

WORMCUBE_ALGORITHM(broadcast_peel){
    .operation = operations::broadcast,
    .name = "peel",
    .summary = "dimension after dimension on all ports, no alignment; every torus",
    .source = "ours, after Wang and Tseng",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .remark = "our extension",
    .options = {packets_option(), period_option()},
    .require =
        [](const Setting& setting) {
          require_broadcast_peel(setting.topology, setting.arguments.root,
                                 packets_of(setting.options));
        },
    .predict =
        [](const Setting& setting) {
          return predict_broadcast_peel(setting.topology, packets_of(setting.options));
        },
    .chosen_by_auto = false,  // plan takes it where it is best
    .program =
        [](Node& node, const Call& call) {
          wormcube::broadcast_peel(node, call.output.all(), call.arguments.root,
                                   packets_of(call.options));
        },
    .parts = packet_parts,
};

}  // namespace algorithms

}  // namespace wormcube
