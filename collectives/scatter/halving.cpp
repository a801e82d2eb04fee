// Scatter along the trees of interval halving: of ranks, of the hypercube, of each dimension.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/holding.hpp"
#include "wormcube/collectives/scatter/halving_tree.hpp"

namespace wormcube {

namespace {

/// Scatter: block q of the root's input ends as node q's own.
template <HalvingTree tree>
void scatter_by_halving(Node& node, const Call& call) {
  const std::vector<Handover> steps =
      handovers(tree, node.topology(), node.rank(), call.arguments.root);
  const Handover mine = taken(steps, node.size());
  const Holding held(node, call, call.input, call.output.all(), mine.first, mine.last);
  for (const auto& [kind, peer, first, last] : steps) {
    if (kind == Handover::Kind::gives) {
      node.step({send(peer, held.range(first, last))});
    } else if (kind == Handover::Kind::takes) {
      node.step({receive(peer, held.range(first, last))});
    } else {
      node.step();
    }
  }
  held.get_own(node);
}

template <HalvingTree tree>
Registration scatter_along() {
  return along_halving_tree<tree, operations::scatter, operations::scatterv>(
      scatter_by_halving<tree>);
}

}  // namespace

WORMCUBE_ALGORITHMS(scatter_halving) = scatter_along<HalvingTree::first>();
WORMCUBE_ALGORITHMS(scatter_hypercube) = scatter_along<HalvingTree::image>();
WORMCUBE_ALGORITHMS(scatter_mesh) = scatter_along<HalvingTree::dimensions>();

}  // namespace wormcube
