// All-gather on a mesh or a torus.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/allgather/mesh.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/allgather/own_block.hpp"
#include "wormcube/collectives/allgather/ring.hpp"
#include "wormcube/runtime/node/views.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm allgather_mesh;
}

void allgather_mesh(Node& node, ConstBlocks mine, Blocks all) {
  require_network(algorithms::allgather_mesh, node.topology());
  require_allgather("allgather_mesh", node, mine, all);
  const Topology& topology = node.topology();
  const Rank r = node.rank();
  keep_own(node, mine, all);
  // Invariant: this node holds the blocks of the `stride` nodes that differ from it in the
  // dimensions done, which are neighbours in the order of ranks.
  for (int d = topology.dimensions() - 1; d >= 0; --d) {
    const Rank n = topology.size(d), stride = topology.stride(d);
    if (n == 1) continue;
    const Rank first = r - r % (n * stride);
    std::vector<Bytes> offsets{0};
    for (Rank c = 0; c < n; ++c) {
      offsets.push_back(offsets.back() + all.range(first + c * stride, stride).size());
    }
    LineView line = node.along(d);
    allgather_ring(line, ConstBlocks(all.range(r - r % stride, stride), 1),
                   Blocks(all.range(first, n * stride), offsets));
  }
}

namespace algorithms {

WORMCUBE_ALGORITHM(allgather_mesh){
    .operation = operations::allgather,
    .name = "mesh",
    .summary = "the ring algorithm dimension by dimension; meshes and tori",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.2, Algorithm 4.6, Eq. 4.3",
    .contention_free = true,
    .exactly_once = true,
    .rows = {{"2.3", "", "mesh:4x4"}, {"2.4", "", "mesh:2x3x4"}},
    .needs = {needs::lines_and_rings()},
    .instead = {"bruck"},
    .predict = [](const Setting& setting) -> Prediction {
      const double p = setting.topology.nodes();
      double steps = 0;
      for (const Rank size : setting.topology.sizes()) steps += size - 1;
      return {steps, p - 1, 0, 0};
    },
    .program = [](Node& node,
                  const Call& call) { wormcube::allgather_mesh(node, call.input, call.output); },
};

}  // namespace algorithms

}  // namespace wormcube
