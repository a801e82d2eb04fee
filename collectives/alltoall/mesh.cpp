// Total exchange on a mesh or a torus.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/mesh.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/alltoall/ring.hpp"
#include "wormcube/collectives/require.hpp"

#include <algorithm>

namespace wormcube {

namespace algorithms {
extern const Algorithm alltoall_mesh;
}

void alltoall_mesh(Node& node, ConstBlocks out, Blocks in) {
  require_network(algorithms::alltoall_mesh, node.topology());
  require_exchange("alltoall_mesh", node.size(), out, in);
  const Topology& topology = node.topology();
  const Rank p = node.size();
  const Memory memory = node.memory(out.all().size(), Purpose::blocks);
  const Blocks bundles(memory, p);

  // A held block is named by the rank e with its source's coordinates in the dimensions done and
  // its destination's in the others. Bundled for dimension d, it stands at place(d, e).
  const auto place = [&](int d, Rank e) {
    return topology.coordinate(e, d) * (p / topology.size(d)) + topology.line(e, d);
  };

  int done = -1;
  for (int d = topology.dimensions() - 1; d >= 0; --d) {
    if (topology.size(d) == 1) continue;
    if (done < 0) {
      node.local([&] {
        for (Rank e = 0; e < p; ++e) copy(out[e], bundles[place(d, e)]);
      });
    } else {
      node.rearrange(memory.size(), [&] {
        for (Rank e = 0; e < p; ++e) copy(in[place(done, e)], bundles[place(d, e)]);
      });
    }
    LineView line = node.along(d);
    alltoall_ring(line, ConstBlocks(bundles.all(), line.size()), Blocks(in.all(), line.size()));
    done = d;
  }
  // Bundled for the first dimension, blocks stand in the order of ranks: `in` is in order now.
  if (done < 0) node.local([&] { copy(out[0], in[0]); });
}

namespace {

Prediction predict(const Setting& setting) {
  const Topology& topology = setting.topology;
  const double p = topology.nodes();
  double steps = 0, dimensions = 0;
  for (const Rank size : topology.sizes()) {
    steps += size - 1;
    dimensions += size > 1 ? 1 : 0;
  }
  return {steps, p / 2 * steps, p * std::max(0.0, dimensions - 1), p};
}

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(alltoall_mesh){
    .operation = operations::alltoall,
    .name = "mesh",
    .summary = "the ring algorithm dimension by dimension; meshes and tori",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.2, Eq. 4.8",
    .rows = {{"5.4", "", "torus:4x4"},
             {"5.4", "", "mesh:4x4"},
             {"5.5", "", "mesh:2x3x4"},
             {"5.14", "", "mesh:4x4"}},
    .needs = {needs::lines_and_rings()},
    .instead = "use shift",
    .predict = predict,
    .program = [](Node& node,
                  const Call& call) { wormcube::alltoall_mesh(node, call.input, call.output); },
};

}  // namespace algorithms

}  // namespace wormcube
