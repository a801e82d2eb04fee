// Scatter along a Bine tree.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/bine.hpp"

#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

namespace {

/// The root's block q to node q: broadcast_bine with, in each message, the blocks of all nodes that
/// it leads to.
///
/// Network  ring or torus of sides 2^L; one-port.
/// Cost     ts log2 p + tw m (p - 1).
/// Links    each link carries one message in a step.
/// Source   D. De Sensi et al., Bine Trees, SC 2025, arXiv 2508.17311; the paths after the authors'
///          program, far nodes first on tori.
void scatter_bine(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  const BineTree tree(node, root);
  const Rank r = node.rank();
  const int taken = tree.taken();
  const BineHolding held(node, tree, Blocks(only_read(call.input.all()), call.input.count()),
                         call.output.all());
  for (int bit = tree.steps() - 1; bit >= 0; --bit) {
    const Move move = tree.move(bit);
    if (bit > taken) {
      node.step();
    } else if (bit == taken) {
      node.step({receive_pieces(move, held.all())});
    } else {
      node.step({send_pieces(move, held.heir(bit))});
    }
  }
  if (r == root) node.local([&] { copy(call.input[root], call.output.all()); });
}

}  // namespace

WORMCUBE_ALGORITHMS(scatter_bine) = bine_tree(operations::scatter, scatter_bine);

}  // namespace wormcube
