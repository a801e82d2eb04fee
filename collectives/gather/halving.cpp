// Gather along the trees of interval halving: of ranks, of the hypercube, of each dimension.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/holding.hpp"
#include "wormcube/collectives/scatter/halving_tree.hpp"

namespace wormcube {

namespace {

/// Gather: node q's own block ends as block q of the root's output. The scatter's steps backwards.
template <HalvingTree tree>
void gather_by_halving(Node& node, const Call& call) {
  const std::vector<Handover> steps =
      handovers(tree, node.topology(), node.rank(), call.arguments.root);
  const Handover mine = taken(steps, node.size());
  const ConstSpan own = call.input.all();
  const Holding held(node, call, call.output, only_read(own), mine.first, mine.last);
  held.put_own(node, own);
  for (std::size_t t = steps.size(); t-- > 0;) {
    const auto& [kind, peer, first, last] = steps[t];
    if (kind == Handover::Kind::gives) {
      node.step({receive(peer, held.range(first, last))});
    } else if (kind == Handover::Kind::takes) {
      node.step({send(peer, held.range(first, last))});
    } else {
      node.step();
    }
  }
}

template <HalvingTree tree>
Registration gather_along() {
  return along_halving_tree<tree, operations::gather, operations::gatherv>(gather_by_halving<tree>);
}

}  // namespace

WORMCUBE_ALGORITHMS(gather_halving) = gather_along<HalvingTree::first>();
WORMCUBE_ALGORITHMS(gather_hypercube) = gather_along<HalvingTree::image>();
WORMCUBE_ALGORITHMS(gather_mesh) = gather_along<HalvingTree::dimensions>();

}  // namespace wormcube
