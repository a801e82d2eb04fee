// Scatter and gather on a hypercube with all links at once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/reversible.hpp"
#include "wormcube/collectives/scatter/rotated_tree.hpp"
#include "wormcube/runtime/node/together.hpp"

namespace wormcube {

namespace {

void pass_part(Node& node, int j, const Reversible& blocks, Rank root) {
  const RotatedTree tree(node, j, root);
  HeldParts held(node, tree, blocks.all, blocks.own.all(), j);
  const auto move_own = [&] { blocks.move(node, held.pieces(tree.mine(), 1)[0], held.own_part()); };
  const int d = node.topology().dimensions();
  if (blocks.way == Way::gather) move_own();
  for (int i = 0; i < d; ++i) {
    const int t = blocks.way == Way::scatter ? i : d - 1 - i;
    if (tree.gives(t)) {
      node.step({blocks.give_pieces(tree.partner(t), held.pieces(tree.first(t), tree.half(t)))});
    } else if (tree.takes(t)) {
      node.step({blocks.take_pieces(tree.partner(t), held.pieces(tree.first(t), tree.half(t)))});
    } else {
      node.step();
    }
  }
  if (blocks.way == Way::scatter) move_own();
}

template <Way way>
void through_all_links(Node& node, const Call& call) {
  const Reversible blocks(way, call);
  if (node.size() == 1) return blocks.move(node, blocks.all[0], blocks.own.all());
  together(node, node.topology().dimensions(),
           [&](int j, Node& part) { pass_part(part, j, blocks, call.arguments.root); });
}

}  // namespace

WORMCUBE_ALGORITHMS(scatter_hypercube_all_port) = rotated_trees(operations::scatter,
                                                                through_all_links<Way::scatter>);
WORMCUBE_ALGORITHMS(gather_hypercube_all_port) = rotated_trees(operations::gather,
                                                               through_all_links<Way::gather>);

}  // namespace wormcube
