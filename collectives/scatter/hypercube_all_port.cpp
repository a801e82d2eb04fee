// Scatter on a hypercube with all links at once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/scatter/rotated_tree.hpp"
#include "wormcube/runtime/node/together.hpp"

namespace wormcube {

namespace {

void scatter_part(Node& node, int j, ConstBlocks out, Span own, Rank root) {
  const RotatedTree tree(node, j, root);
  const Blocks all(only_read(out.all()), out.count());
  HeldParts held(node, tree, all, own, j);
  for (int t = 0; t < node.topology().dimensions(); ++t) {
    if (tree.gives(t)) {
      node.step({send_pieces(tree.partner(t), held.pieces(tree.first(t), tree.half(t)))});
    } else if (tree.takes(t)) {
      node.step({receive_pieces(tree.partner(t), held.pieces(tree.first(t), tree.half(t)))});
    } else {
      node.step();
    }
  }
  node.local([&] { copy(held.pieces(tree.mine(), 1)[0], held.own_part()); });
}

/// Scatter: block q of the root's input ends as node q's own.
///
/// Part j of d of every block goes along rotated copy j of the hypercube's tree, which crosses the
/// dimensions j, j+1, .., j-1 (mod d).
///
/// Network  hypercube of dimension d; all-port.
/// Cost     d steps, (p - 1) / d blocks: ts d + tw m (p - 1) / d. No rearrangement: the root sends
///          pieces, the others keep what they get in the order of the copy.
/// Links    the copies cross different dimensions in each step.
void scatter_hypercube_all_port(Node& node, const Call& call) {
  const Span own = call.output.all();
  if (node.size() == 1) {
    node.local([&] { copy(call.input[0], own); });
    return;
  }
  together(node, node.topology().dimensions(),
           [&](int j, Node& part) { scatter_part(part, j, call.input, own, call.arguments.root); });
}

}  // namespace

WORMCUBE_ALGORITHMS(scatter_hypercube_all_port) = rotated_trees(operations::scatter,
                                                                scatter_hypercube_all_port);

}  // namespace wormcube
