// Bokhari, Berryman: quadrants exchange with quadrants, and divide.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/bokhari_quadrant.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/alltoall/mesh_quadrants.hpp"
#include "wormcube/collectives/require.hpp"

#include <array>
#include <bit>
#include <utility>

namespace wormcube {

namespace algorithms {
extern const Algorithm alltoall_bokhari_quadrant;
}

namespace {

BlockArray plan(const Topology& topology, Rank rank) {
  require_network(algorithms::alltoall_bokhari_quadrant, topology);
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

}  // namespace

void alltoall_bokhari_quadrant(Node& node, ConstBlocks out, Blocks in) {
  const auto& planned = node.plan<BlockArray>("bokhari-quadrant", {},
                                              [&] { return plan(node.topology(), node.rank()); });
  require_exchange("bokhari-quadrant", node.size(), out, in);
  planned.run(node, out, in);
}

namespace algorithms {

WORMCUBE_ALGORITHM(alltoall_bokhari_quadrant){
    .operation = operations::alltoall,
    .name = "bokhari-quadrant",
    .summary = "quadrants exchange with quadrants, and divide; meshes 2^d x 2^d",
    .source = "Bokhari, Berryman 1992, by its row in Suh, Shin, Yalamanchili, Table 2",
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
    .program =
        [](Node& node, const Call& call) {
          wormcube::alltoall_bokhari_quadrant(node, call.input, call.output);
        },
};

}  // namespace algorithms

}  // namespace wormcube
