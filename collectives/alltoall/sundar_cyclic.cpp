// Total exchange on a square mesh: halves exchange with halves, rows and columns at the same time.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/mesh_quadrants.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

#include <algorithm>
#include <bit>

namespace wormcube {

namespace {

BlockArray plan_sundar_cyclic(const Topology& topology, Rank rank) {
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

/// Total exchange (all-to-all, personalised): node r's block q ends as node q's block r.
///
/// Level k = d .. 1 divides squares of side 2^k into quadrants. Each node exchanges half of its
/// blocks across the middle of its row and half across the middle of its column. Nodes are coloured
/// like a chess board: one colour takes its row first, the other its column, so that both
/// directions are busy. Nodes that would share a link take turns, 2^(k-2) of them. On the last
/// level squares are 2 x 2: all nodes take their row, then their column.
///
/// Network   mesh 2^d x 2^d; one-port, full duplex.
/// Cost      2^d start-ups of 2^(2d-1) blocks each; (d-1) 4^d blocks rearranged.
/// Links     in each line of a square one pair of nodes meets at a time.
/// Source    N. S. Sundar, D. N. Jayasimha, D. K. Panda, P. Sadayappan, Complete Exchange in 2D
///           Meshes, SHPCC 1994. Reconstructed from its row in Suh, Shin, Yalamanchili, Table 2,
///           which it matches exactly; the paper itself was not available.
void alltoall_sundar_cyclic(Node& node, const Call& call) {
  const auto& planned = node.plan<BlockArray>(
      "sundar-cyclic", {}, [&] { return plan_sundar_cyclic(node.topology(), node.rank()); });
  planned.run(node, call.input, call.output);
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_sundar_cyclic){
    .operation = operations::alltoall,
    .name = "sundar-cyclic",
    .summary =
        "halves of the mesh exchange blocks, along rows and columns at once; meshes of 2^d x 2^d",
    .source = "Sundar et al. 1994, by its row in Suh, Shin, Yalamanchili, Table 2",
    .contention_free = true,
    .exactly_once = true,
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
    .program = alltoall_sundar_cyclic,
};

}  // namespace wormcube
