// Reduction along a Bine tree.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/bine.hpp"

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/handover.hpp"
#include "wormcube/collectives/kit/partial.hpp"

namespace wormcube {

namespace {

/// All nodes' blocks combined, at the root: broadcast_bine backwards.
///
/// Network  ring or torus of sides 2^L; one-port. The operator must commute.
/// Cost     (ts + tw m + tc m) log2 p.
/// Links    each link carries one message in a step.
/// Source   D. De Sensi et al., Bine Trees, SC 2025, arXiv 2508.17311; the paths after the authors'
///          program, far nodes first on tori.
void reduce_bine(Node& node, const Call& call) {
  const Reduction& reduction = call.arguments.reduction;
  const Rank root = call.arguments.root;
  const BineTree tree(node, root);
  const Rank r = node.rank();
  const int taken = tree.taken();
  const Bytes bytes = taken > 0 ? call.input.all().size() : 0;
  const Memory incoming = node.memory(bytes), sum = node.memory(r == root ? 0 : bytes);
  Partial partial(node, reduction, call.input.all(), r == root ? call.output.all() : sum.span());
  for (int bit = 0; bit < tree.steps(); ++bit) {
    if (bit > taken) {
      node.step();
    } else if (bit == taken) {
      node.step({send(tree.move(bit), partial.value())});
    } else {
      node.step({receive(tree.move(bit), incoming)});
      partial.before(incoming);
    }
  }
  if (r == root) partial.settle();
}

}  // namespace

WORMCUBE_ALGORITHMS(reduce_bine) = bine_tree(operations::reduce, reduce_bine);

}  // namespace wormcube
