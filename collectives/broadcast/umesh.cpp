// Broadcast by halving the chain of nodes in dimension order: one port, no contention, any shape.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/broadcast/itinerary.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

namespace {

/// The node's place in the chain: axis 0 is most significant. Lines keep their ends, rings start
/// anywhere.
class Chain {
 public:
  Chain(const Topology& topology, const Itinerary& itinerary)
      : topology_(topology), itinerary_(itinerary) {}

  Rank place(Rank rank, Rank root) const {
    Rank place = 0;
    for (int axis = 0; axis < itinerary_.axes(); ++axis) {
      const int d = itinerary_.dimension(axis);
      const Rank x = topology_.coordinate(rank, d), n = topology_.size(d);
      const bool is_line = n > 2 && !topology_.factor(d).wraps();
      place = place * n + (is_line ? x : mod(x - topology_.coordinate(root, d), n));
    }
    return place;
  }
  /// The signed hops from one place to another, never round a ring.
  std::vector<int> hops(Rank from, Rank to) const {
    std::vector<int> by(itinerary_.axes());
    for (int axis = itinerary_.axes() - 1; axis >= 0; --axis) {
      const Rank n = itinerary_.size(axis);
      by[axis] = to % n - from % n;
      from /= n;
      to /= n;
    }
    return by;
  }

 private:
  const Topology& topology_;
  const Itinerary& itinerary_;
};

/// Broadcast: the root's message ends on every node.
///
/// The nodes form a chain, ordered by the coordinate that messages travel first, then the next. In
/// each half of an interval of the chain one node has the message; the halves continue separately.
/// Rings are cut at the root and used as lines, so the hops carry signs.
///
/// Network  any product of lines and rings; one-port; any root.
/// Cost     ceil(log2 p) steps of the whole message. Every node receives once.
/// Links    free of contention.
/// Source   McKinley, Xu, Esfahanian, Ni, Unicast-Based Multicast Communication in Wormhole-Routed
///          Networks, IEEE Trans. Parallel Distrib. Syst. 5(12), 1994: U-mesh.
void broadcast_umesh(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  const Topology& topology = node.topology();
  Itinerary itinerary(topology, root, node.rank());
  const Chain chain(topology, itinerary);
  const Rank here = chain.place(node.rank(), root);

  // Invariant: of the places low .. high-1, which include here, only `holder` has the message.
  Rank low = 0, high = node.size(), holder = chain.place(root, root);
  for (int step = 0; high - low > 1; ++step) {
    const Rank middle = low + (high - low + 1) / 2;
    const bool from_lower = holder < middle, in_lower = here < middle;
    const Rank heir = from_lower ? middle : middle - 1;
    if (here == holder) itinerary.depart(step, chain.hops(holder, heir));
    if (here == heir) itinerary.arrive(step, chain.hops(holder, heir));
    (in_lower ? high : low) = middle;
    if (in_lower != from_lower) holder = heir;
  }
  itinerary.end_phase(log2_ceiling(node.size()));
  travel(node, call, itinerary);
}

Prediction predict_broadcast_umesh(const Setting& setting) {
  return predict_tree(log2_ceiling(setting.topology.nodes()), setting.options);
}

}  // namespace

WORMCUBE_ALGORITHM(broadcast_umesh){
    .operation = operations::broadcast,
    .name = "umesh",
    .summary =
        "recursive halving of the chain of nodes in dimension order; lines, rings and their "
        "products",
    .source = "McKinley, Xu, Esfahanian, Ni 1994 (U-mesh)",
    .contention_free = true,
    .exactly_once = true,
    .options = {packets_option(), period_option()},
    .needs = {needs::lines_and_rings()},
    .instead = {"halving"},
    .require =
        [](const Setting& setting) { require_packets("umesh", packets_of(setting.options)); },
    .predict = predict_broadcast_umesh,
    .program = broadcast_umesh,
    .parts = packet_parts,
};

}  // namespace wormcube
