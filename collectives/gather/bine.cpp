// Gather along a Bine tree.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/bine.hpp"

#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

namespace {

/// Every node's block to the root: scatter_bine backwards.
///
/// Network  ring or torus of sides 2^L; one-port.
/// Cost     ts log2 p + tw m (p - 1).
/// Links    each link carries one message in a step.
/// Source   D. De Sensi et al., Bine Trees, SC 2025, arXiv 2508.17311; the paths after the authors'
///          program, far nodes first on tori.
void gather_bine(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  const BineTree tree(node, root);
  const Rank r = node.rank();
  const int taken = tree.taken();
  const BineHolding held(node, tree, call.output, only_read(call.input.all()));
  if (r == root) node.local([&] { copy(call.input.all(), call.output[root]); });
  for (int bit = 0; bit < tree.steps(); ++bit) {
    const Move move = tree.move(bit);
    if (bit > taken) {
      node.step();
    } else if (bit == taken) {
      node.step({send_pieces(move, held.all())});
    } else {
      node.step({receive_pieces(move, held.heir(bit))});
    }
  }
}

}  // namespace

WORMCUBE_ALGORITHMS(gather_bine) = bine_tree(operations::gather, gather_bine);

}  // namespace wormcube
