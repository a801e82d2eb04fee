// Broadcast along a Bine tree.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/bine.hpp"

#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

namespace {

/// Broadcast: the root's message ends on every node. A node that has it sends it to its partner in
/// swing's step, far ones first.
///
/// Network  ring or torus of sides 2^L; one-port.
/// Cost     (ts + tw m) log2 p.
/// Links    each link carries one message in a step.
/// Source   D. De Sensi et al., Bine Trees, SC 2025, arXiv 2508.17311; the paths after the authors'
///          program, far nodes first on tori.
void broadcast_bine(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  const BineTree tree(node, root);
  const int taken = tree.taken();
  for (int bit = tree.steps() - 1; bit >= 0; --bit) {
    if (bit > taken) {
      node.step();
    } else if (bit == taken) {
      node.step({receive(tree.move(bit), call.output.all())});
    } else {
      node.step({send(tree.move(bit), call.output.all())});
    }
  }
}

}  // namespace

WORMCUBE_ALGORITHMS(broadcast_bine) = bine_tree(operations::broadcast, broadcast_bine);

}  // namespace wormcube
