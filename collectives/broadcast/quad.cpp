// Broadcast by quartering, on tori with sides of a power of two.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/broadcast/itinerary.hpp"
#include "wormcube/collectives/broadcast/torus_trees.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

#include <algorithm>
#include <bit>

#include <fmt/core.h>

namespace wormcube {

bool can_quarter(std::span<const Rank> sizes) {
  // A ring of 2 is one cable, and the first and the third message need two.
  return sizes.size() >= 2 && sizes[0] == sizes[1] && sizes[0] >= 4 &&
         std::has_single_bit(static_cast<unsigned>(sizes[0]));
}

int quarter_steps(std::span<const Rank> sizes) { return log2_ceiling(sizes[0]); }

void quarter(Itinerary& itinerary) {
  const Rank x = itinerary.position[0], y = itinerary.position[1];
  std::vector<int> by(itinerary.axes());
  const auto hops = [&](int along_0, int along_1) -> const std::vector<int>& {
    by[0] = along_0, by[1] = along_1;
    return by;
  };
  bool is_holder = x == 0 && y == 0;
  int step = 0;
  for (Rank s = itinerary.size(0) / 2; s > 0; s /= 2, ++step) {
    // Invariant: the nodes at multiples of 2s are the holders.
    if (is_holder) {
      itinerary.depart(step, hops(s, 0));
      itinerary.depart(step, hops(0, s));
      itinerary.depart(step, hops(-s, s));
    } else if (((x | y) & (s - 1)) == 0) {
      const bool odd_x = (x & s) != 0, odd_y = (y & s) != 0;
      itinerary.arrive(step, hops(odd_x ? (odd_y ? -s : s) : 0, odd_y ? s : 0));
      is_holder = true;
    }
  }
  itinerary.end_phase(step);
}

namespace {

/// Broadcast: the root's message ends on every node.
///
/// A stand-in for Tsai and McKinley's extended dominating nodes, whose patterns we do not have: its
/// steps equal theirs in two dimensions, and theirs or one fewer in three. With s = n/2, n/4, .., 1
/// every holder sends to the three other corners of a square with side s. In three dimensions the
/// first one is served before, on all ports, as by peel.
///
/// Network  tori 2^d x 2^d and z x 2^d x 2^d, d >= 2; all ports; any root.
/// Cost     d, or d + ceil(log_7 z), steps of the whole message. Every node receives once.
/// Links    free of contention, if routers honour the signs of the hops.
/// Source   construction ours; counts: Tsai and McKinley as quoted by Wang and Tseng, sec. 5.
void broadcast_quad(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  Itinerary itinerary(node.topology(), root, node.rank());
  peel(itinerary, 2);
  quarter(itinerary);
  travel(node, call, itinerary);
}

void require_broadcast_quad(const Setting& setting) {
  require_torus_broadcast("quad", setting);
  const std::vector<Rank> sizes = axis_sizes(setting.topology);
  if (sizes.size() > 3 || !can_quarter(sizes)) {
    throw UsageError(
        fmt::format("quad: needs a torus of 2 or 3 dimensions whose last two have the same size, a "
                    "power of two of 4 or more; {} is not one; use plan or peel",
                    setting.topology.name()));
  }
}

Prediction predict_broadcast_quad(const Setting& setting) {
  const std::vector<Rank> sizes = axis_sizes(setting.topology);
  return predict_tree(peel_steps(sizes, 2) + quarter_steps(sizes), setting.options);
}

}  // namespace

WORMCUBE_ALGORITHM(broadcast_quad){
    .operation = operations::broadcast,
    .name = "quad",
    .summary = "every square is divided into four; tori of 2^d x 2^d and z x 2^d x 2^d",
    .source = "counts: Tsai, McKinley, as quoted by Wang and Tseng, sec. 5",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .remark = "stand-in for Tsai and McKinley: their counts or fewer, construction ours",
    .options = {packets_option(), period_option()},
    .require = require_broadcast_quad,
    .predict = predict_broadcast_quad,
    .selection = Selection::by_name,  // plan uses it where it is best
    .program = broadcast_quad,
    .parts = packet_parts,
};

}  // namespace wormcube
