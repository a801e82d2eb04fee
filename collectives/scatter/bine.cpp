// Scatter and gather along a Bine tree.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/bine.hpp"

#include "wormcube/collectives/kit/reversible.hpp"

namespace wormcube {

namespace {

/// Scatter: the root's block q to node q: broadcast_bine with, in each message, the blocks of all
/// nodes that it leads to. Gather: every node's block to the root, backwards.
///
/// Network  ring or torus of sides 2^L; one-port.
/// Cost     ts log2 p + tw m (p - 1).
/// Links    each link carries one message in a step.
/// Source   D. De Sensi et al., Bine Trees, SC 2025, arXiv 2508.17311; the paths after the authors'
///          program, far nodes first on tori.
template <Way way>
void along_bine_tree(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  const BineTree tree(node, root);
  const int taken = tree.taken();
  const Reversible blocks(way, call);
  const Span own = blocks.own.all();
  const BineHolding held(node, tree, blocks.all, own);
  const auto move_own = [&] {
    if (node.rank() == root) blocks.move(node, blocks.all[root], own);
  };
  if (way == Way::gather) move_own();
  for (int t = 0; t < tree.steps(); ++t) {
    const int bit = way == Way::gather ? t : tree.steps() - 1 - t;
    const Move move = tree.move(bit);
    if (bit > taken) {
      node.step();
    } else if (bit == taken) {
      node.step({blocks.take_pieces(move, held.all())});
    } else {
      node.step({blocks.give_pieces(move, held.heir(bit))});
    }
  }
  if (way == Way::scatter) move_own();
}

}  // namespace

WORMCUBE_ALGORITHMS(scatter_bine) = bine_tree(operations::scatter, along_bine_tree<Way::scatter>);
WORMCUBE_ALGORITHMS(gather_bine) = bine_tree(operations::gather, along_bine_tree<Way::gather>);

}  // namespace wormcube
