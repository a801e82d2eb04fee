// Total exchange on a mesh by single blocks, in as few steps as the middle of the mesh allows.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/scott_layer.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>

namespace wormcube {

/// The partner of v < h in this layer's matching: h-1 turns with the layer, others mirror at it.
Rank ScottLayer::matched(Rank v) const {
  const Rank last = size / 2 - 1, factor = layer / 2 % last;
  if (v == last) return factor;
  if (v == factor) return last;
  return mod(2 * factor - v, last);
}

Rank ScottLayer::pattern(Rank x) const {
  const Rank v = x % (size / 2), last = size / 2 - 1, factor = layer / 2 % last;
  return v == last ? 0 : std::min(mod(v - factor, last), mod(factor - v, last));
}

Rank ScottLayer::target(Rank x) const {
  const Rank h = size / 2, v = x % h, u = matched(v);
  const bool first_of_pair = (v < u) == (layer % 2 == 0), upper = x >= h;  // v is i
  if (layer >= size - 2) return first_of_pair ? (x + h) % size : x;
  return first_of_pair == upper ? u : u + h;
}

namespace {

/// Total exchange (all-to-all, personalised): node r's block q ends as node q's block r.
///
/// For each layer X of the columns, layer Y of the rows and shift s, pattern t of X meets pattern
/// t+s of Y, for all t at once: these pairs are the tiles, of 4 x 4 nodes each. Node (r,c) of a
/// tile sends one block to (Y(r), X(c)).
///
/// Network   mesh R x C, both multiples of 4; one-port, full duplex.
/// Cost      RC max(R,C) / 4 start-ups of one block: the bisection bound, so the optimum for single
///           blocks sent directly.
/// Links     tiles share no row and no column; in a tile rows run patterns of X, columns of Y.
/// Source    the bound: D. S. Scott, Efficient All-to-All Communication Patterns in Hypercube and
///           Mesh Topologies, DMCC 1991. The construction is ours.
void alltoall_scott_direct(Node& node, const Call& call) {
  const Rank R = node.topology().size(0), C = node.topology().size(1), shifts = std::max(R, C) / 4;
  const Rank r = node.rank() / C, c = node.rank() % C;

  node.local([&] { copy(call.input[node.rank()], call.output[node.rank()]); });
  for (Rank x = 0; x < C; ++x) {
    for (Rank y = 0; y < R; ++y) {
      const ScottLayer X{C, x}, Y{R, y};
      const Rank to = Y.target(r) * C + X.target(c), from = Y.source(r) * C + X.source(c);
      for (Rank s = 0; s < shifts; ++s) {
        const bool in_tile = Y.pattern(r) == (X.pattern(c) + s) % shifts;
        if (in_tile && to != node.rank()) {
          node.step({send(to, call.input[to]), receive(from, call.output[from])});
        } else {
          node.step();
        }
      }
    }
  }
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_scott_direct){
    .operation = operations::alltoall,
    .name = "scott-direct",
    .summary = "single blocks, at the bisection bound; meshes whose sides are multiples of 4",
    .source = "Scott 1991 (the bound)",
    .contention_free = true,
    .exactly_once = true,
    .remark = "our construction",
    .needs = {needs::lines(), needs::dimensions(2), needs::multiples_of(4)},
    .instead = {"suh-mesh", "mesh", "shift"},
    .predict = [](const Setting& setting) -> Prediction {
      const Topology& topology = setting.topology;
      const double steps =
          static_cast<double>(topology.nodes()) * std::max(topology.size(0), topology.size(1)) / 4;
      return {.startups = steps,
              .transmission_blocks = steps,
              .rearranged_blocks = 0,
              .working_blocks = 0};
    },
    .program = alltoall_scott_direct,
};

}  // namespace wormcube
