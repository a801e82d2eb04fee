// Gather on a hypercube with all links at once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/scatter/rotated_tree.hpp"
#include "wormcube/runtime/node/together.hpp"

namespace wormcube {

namespace {

void gather_part(Node& node, int j, ConstSpan own, Blocks in, Rank root) {
  const RotatedTree tree(node, j, root);
  HeldParts held(node, tree, in, only_read(own), j);
  node.local([&] { copy(held.own_part(), held.pieces(tree.mine(), 1)[0]); });
  for (int t = node.topology().dimensions(); t-- > 0;) {
    if (tree.gives(t)) {
      node.step({receive_pieces(tree.partner(t), held.pieces(tree.first(t), tree.half(t)))});
    } else if (tree.takes(t)) {
      node.step({send_pieces(tree.partner(t), held.pieces(tree.first(t), tree.half(t)))});
    } else {
      node.step();
    }
  }
}

/// Gather: the scatter backwards; the root's own block may lie in its place from the start.
void gather_hypercube_all_port(Node& node, const Call& call) {
  const ConstSpan own = call.input.all();
  if (node.size() == 1) {
    node.local([&] { copy(own, call.output[0]); });
    return;
  }
  together(node, node.topology().dimensions(),
           [&](int j, Node& part) { gather_part(part, j, own, call.output, call.arguments.root); });
}

}  // namespace

WORMCUBE_ALGORITHMS(gather_hypercube_all_port) = rotated_trees(operations::gather,
                                                               gather_hypercube_all_port);

}  // namespace wormcube
