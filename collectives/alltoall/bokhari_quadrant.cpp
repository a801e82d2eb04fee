// Total exchange on a square mesh: quadrants exchange with quadrants, and divide.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/mesh_quadrants.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

#include <array>
#include <bit>
#include <utility>

namespace wormcube {

namespace {

BlockArray plan(const Topology& topology, Rank rank) {
  MeshQuadrants quadrants(topology, rank);
  const Rank r = quadrants.row(), c = quadrants.column();

  for (bool more = quadrants.half() > 0; more; more = quadrants.next_level()) {
    const Rank h = quadrants.half();
    const std::array meetings{std::pair{MeshQuadrants::horizontal, c % h},
                              std::pair{MeshQuadrants::vertical, r % h},
                              std::pair{MeshQuadrants::diagonal, mod(c - r, h)}};
    for (const auto& [part, turn] : meetings) {
      quadrants.phase(part == MeshQuadrants::horizontal ? "quadrants along rows"
                      : part == MeshQuadrants::vertical ? "quadrants along columns"
                                                        : "quadrants across the corner");
      for (Rank s = 0; s < h; ++s) {
        if (s == turn) {
          quadrants.exchange(part, part, part);
        } else {
          quadrants.idle();
        }
      }
    }
  }
  return quadrants.done();
}

/// Total exchange (all-to-all, personalised): node r's block q ends as node q's block r.
///
/// Level k = d .. 1 divides squares of side 2^k into quadrants. Each node meets the nodes at its
/// place of the other three quadrants, one after another, and gives each a quarter of its blocks:
/// all that is for that quadrant. Nodes that would share a link take turns, 2^(k-1) of them.
///
/// Network   mesh 2^d x 2^d; one-port, full duplex.
/// Cost      3 (2^d - 1) start-ups of 4^(d-1) blocks each; (d-1) 4^d blocks rearranged.
/// Links     in each line of a square one pair of nodes meets at a time; pairs that meet across the
///           diagonal leave by different rows and arrive by different columns.
/// Source    S. H. Bokhari, H. Berryman, Complete Exchange on a Circuit Switched Mesh, SHPCC 1992.
///           Reconstructed from its row in Suh, Shin, Yalamanchili, Table 2, which it matches
///           exactly; the paper itself was not available.
void alltoall_bokhari_quadrant(Node& node, const Call& call) {
  const auto& planned = node.plan<BlockArray>("bokhari-quadrant", {},
                                              [&] { return plan(node.topology(), node.rank()); });
  planned.run(node, call.input, call.output);
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_bokhari_quadrant){
    .operation = operations::alltoall,
    .name = "bokhari-quadrant",
    .summary = "quadrants exchange blocks, then are divided again; meshes of 2^d x 2^d",
    .source = "Bokhari, Berryman 1992, by its row in Suh, Shin, Yalamanchili, Table 2",
    .contention_free = true,
    .exactly_once = true,
    .remark = "reconstruction",
    .needs = {needs::lines(), needs::square_mesh_of_power_of_two()},
    .instead = {"suh-mesh", "mesh", "shift"},
    .predict = [](const Setting& setting) -> Prediction {
      const Topology& topology = setting.topology;
      const double side = topology.size(0), blocks = side * side;
      const int levels = std::bit_width(static_cast<unsigned>(topology.size(0))) - 1;
      return {.startups = 3 * (side - 1),
              .transmission_blocks = 3 * (side - 1) * blocks / 4,
              .rearranged_blocks = std::max(levels - 1, 0) * blocks,
              .working_blocks = blocks};
    },
    .program = alltoall_bokhari_quadrant,
};

}  // namespace wormcube
