// Broadcast dimension by dimension.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/broadcast/mesh.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/broadcast/halving.hpp"
#include "wormcube/collectives/links.hpp"
#include "wormcube/collectives/require.hpp"
#include "wormcube/runtime/node/views.hpp"

#include <algorithm>

namespace wormcube {

void broadcast_mesh(Node& node, Span message, Rank root) {
  require_root("broadcast_mesh", node.size(), root);
  const Topology& topology = node.topology();
  // Invariant: the nodes that agree with the root in dimensions 0 .. d have the message.
  for (int d = topology.dimensions() - 1; d >= 0; --d) {
    const Rank block = topology.stride(d) * topology.size(d);
    if (node.rank() / block == root / block) {
      GridView line = node.along(d);
      broadcast_halving(line, message, topology.coordinate(root, d));
    } else {
      node.idle(log2_ceiling(topology.size(d)));
    }
  }
}

namespace algorithms {

WORMCUBE_ALGORITHM(broadcast_mesh){
    .operation = operations::broadcast,
    .name = "mesh",
    .summary = "interval halving in the root's row, then in all columns; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.1.2, Fig. 4.5",
    .exactly_once = true,
    .remark = "free of contention but on arbitrary graphs",
    .rows = {{"1.5", "", "mesh:4x4"}, {"1.5", "", "torus:5x5"}, {"1.6", "", "mesh:3x4x5"}},
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
        prediction.contended_blocks = steps;
      }
      return prediction;
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::broadcast_mesh(node, call.output.all(), call.arguments.root);
        },
};

}  // namespace algorithms

}  // namespace wormcube
