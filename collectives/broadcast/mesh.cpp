// Broadcast dimension by dimension.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/broadcast/programs.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/links.hpp"
#include "wormcube/runtime/node/views.hpp"

#include <algorithm>

namespace wormcube {

namespace {

/// Broadcast: the root's message ends on every node. Along the root's row first, then along all
/// columns at once, and so on from the last dimension to the first; each line by interval halving.
///
/// Network  any product; sides of any length; one-port.
/// Cost     sum over dimensions of ceil(log2 n_d) steps of the whole message; on a square mesh of
///          2^d nodes (ts + tw m) log2 p.
/// Links    free of contention where halving is in every dimension: lines, rings, trees, complete.
void broadcast_mesh(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  const Topology& topology = node.topology();
  // Invariant: the nodes that agree with the root in dimensions 0 .. d have the message.
  for (int d = topology.dimensions() - 1; d >= 0; --d) {
    const Rank block = topology.stride(d) * topology.size(d);
    if (node.rank() / block == root / block) {
      GridView line = node.along(d);
      broadcast_halving(line, call.output.all(), topology.coordinate(root, d));
    } else {
      node.idle(log2_ceiling(topology.size(d)));
    }
  }
}

}  // namespace

WORMCUBE_ALGORITHM(broadcast_mesh){
    .operation = operations::broadcast,
    .name = "mesh",
    .summary = "interval halving in the root's row, then in all columns; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.1.2, Fig. 4.5",
    .exactly_once = true,
    .remark = "free of contention except on arbitrary graphs",
    .predict = [](const Setting& setting) -> Prediction {
      const Topology& topology = setting.topology;
      const double steps = halvings(topology);
      Prediction prediction{.startups = steps,
                            .transmission_blocks = steps,
                            .rearranged_blocks = 0,
                            .working_blocks = 0};
      bool regular = true;
      for (int d = 0; d < topology.dimensions(); ++d) {
        regular = regular && topology.factor(d).shape() != Shape::graph;
      }
      if (regular) {
        prediction.link_load = topology.nodes() > 1 ? 1 : 0;
        prediction.link_blocks = steps;
      }
      return prediction;
    },
    .program = broadcast_mesh,
};

}  // namespace wormcube
