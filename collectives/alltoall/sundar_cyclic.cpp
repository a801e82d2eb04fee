// Sundar, Jayasimha, Panda, Sadayappan: halves with halves, rows and columns at the same time.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/sundar_cyclic.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/alltoall/mesh_quadrants.hpp"
#include "wormcube/collectives/require.hpp"

#include <algorithm>
#include <bit>

namespace wormcube {

namespace algorithms {
extern const Algorithm alltoall_sundar_cyclic;
}

namespace {

BlockArray plan_sundar_cyclic(const Topology& topology, Rank rank) {
  require_network(algorithms::alltoall_sundar_cyclic, topology);
  MeshQuadrants quadrants(topology, rank);
  const Rank r = quadrants.row(), c = quadrants.column();

  for (bool more = quadrants.half() > 0; more; more = quadrants.next_level()) {
    const Rank h = quadrants.half();
    for (const Rank q : {0, 1}) {
      quadrants.phase(q == 0 ? "halves: even nodes along rows" : "halves: odd nodes along rows");
      const bool along_row = h == 1 ? q == 0 : (r + c) % 2 == q;
      const Rank turn = (along_row ? c : r) % h / 2;
      for (Rank s = 0; s < std::max(h / 2, Rank{1}); ++s) {
        if (s != turn) {
          quadrants.idle();
        } else if (along_row) {
          quadrants.exchange(MeshQuadrants::horizontal, MeshQuadrants::diagonal,
                             MeshQuadrants::horizontal);
        } else {
          quadrants.exchange(MeshQuadrants::vertical, MeshQuadrants::vertical,
                             MeshQuadrants::diagonal);
        }
      }
    }
  }
  return quadrants.done();
}

}  // namespace

void alltoall_sundar_cyclic(Node& node, ConstBlocks out, Blocks in) {
  const auto& planned = node.plan<BlockArray>(
      "sundar-cyclic", {}, [&] { return plan_sundar_cyclic(node.topology(), node.rank()); });
  require_exchange("sundar-cyclic", node.size(), out, in);
  planned.run(node, out, in);
}

namespace algorithms {

WORMCUBE_ALGORITHM(alltoall_sundar_cyclic){
    .operation = operations::alltoall,
    .name = "sundar-cyclic",
    .summary = "halves exchange with halves, rows and columns at once; meshes 2^d x 2^d",
    .source = "Sundar et al. 1994, by its row in Suh, Shin, Yalamanchili, Table 2",
    .remark = "reconstruction",
    .needs = {needs::lines(), needs::square_mesh_of_power_of_two()},
    .instead = {"suh-mesh", "mesh", "shift"},
    .predict = [](const Setting& setting) -> Prediction {
      const Topology& topology = setting.topology;
      const double side = topology.size(0), blocks = side * side;
      const int levels = std::bit_width(static_cast<unsigned>(topology.size(0))) - 1;
      const double steps = levels == 0 ? 0 : side;
      return {.startups = steps,
              .transmission_blocks = steps * blocks / 2,
              .rearranged_blocks = std::max(levels - 1, 0) * blocks,
              .working_blocks = blocks};
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::alltoall_sundar_cyclic(node, call.input, call.output);
        },
};

}  // namespace algorithms

}  // namespace wormcube
