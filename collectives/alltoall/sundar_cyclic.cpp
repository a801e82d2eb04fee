// Sundar, Jayasimha, Panda, Sadayappan: halves with halves, rows and columns at the same time.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/sundar_cyclic.hpp"

#include "wormcube/collectives/alltoall/mesh_quadrants.hpp"
#include "wormcube/collectives/require.hpp"

#include <algorithm>
#include <bit>

namespace wormcube {

void alltoall_sundar_cyclic(Node& node, ConstBlocks out, Blocks in) {
  require_quadrants("sundar-cyclic", node.topology());
  require_exchange("sundar-cyclic", node.size(), out, in);
  MeshQuadrants quadrants(node, out);
  const Rank r = quadrants.row(), c = quadrants.column();

  for (bool more = quadrants.half() > 0; more; more = quadrants.next_level()) {
    const Rank h = quadrants.half();
    for (const Rank q : {0, 1}) {
      const bool along_row = h == 1 ? q == 0 : (r + c) % 2 == q;
      const Rank turn = (along_row ? c : r) % h / 2;
      for (Rank s = 0; s < std::max(h / 2, Rank{1}); ++s) {
        if (s != turn) {
          node.step();
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
  quadrants.deliver(in);
}

void require_alltoall_sundar_cyclic(const Topology& topology, const Parameters& /*parameters*/) {
  require_quadrants("sundar-cyclic", topology);
}

Prediction predict_alltoall_sundar_cyclic(const Topology& topology,
                                          const Parameters& /*parameters*/) {
  const double side = topology.size(0), blocks = side * side;
  const int levels = std::bit_width(static_cast<unsigned>(topology.size(0))) - 1;
  const double steps = levels == 0 ? 0 : side;
  return {.startups = steps,
          .transmission_blocks = steps * blocks / 2,
          .rearranged_blocks = std::max(levels - 1, 0) * blocks,
          .peak_blocks = blocks};
}

}  // namespace wormcube
