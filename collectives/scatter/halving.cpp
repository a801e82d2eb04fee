// Scatter and gather along the trees of interval halving: of ranks, of the hypercube, of each
// dimension.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/holding.hpp"
#include "wormcube/collectives/kit/reversible.hpp"
#include "wormcube/collectives/scatter/halving_tree.hpp"

#include <algorithm>

namespace wormcube {

namespace {

/// Scatter: block q of the root's input ends as node q's own. Gather: node q's own block ends as
/// block q of the root's output; the scatter's steps backwards.
template <HalvingTree tree, Way way>
void by_halving(Node& node, const Call& call) {
  std::vector<Handover> steps = handovers(tree, node.topology(), node.rank(), call.arguments.root);
  const Handover mine = taken(steps, node.size());
  const Reversible blocks(way, call);
  const Holding held(node, call, blocks.all, blocks.own.all(), mine.first, mine.last);
  if (way == Way::gather) {
    std::ranges::reverse(steps);
    held.put_own(node);
  }
  for (const auto& [kind, peer, first, last] : steps) {
    if (kind == Handover::Kind::gives) {
      node.step({blocks.give(peer, held.range(first, last))});
    } else if (kind == Handover::Kind::takes) {
      node.step({blocks.take(peer, held.range(first, last))});
    } else {
      node.step();
    }
  }
  if (way == Way::scatter) held.get_own(node);
}

template <HalvingTree tree>
Registration scatter_along() {
  return along_halving_tree<tree, operations::scatter, operations::scatterv>(
      by_halving<tree, Way::scatter>);
}
template <HalvingTree tree>
Registration gather_along() {
  return along_halving_tree<tree, operations::gather, operations::gatherv>(
      by_halving<tree, Way::gather>);
}

}  // namespace

WORMCUBE_ALGORITHMS(scatter_halving) = scatter_along<HalvingTree::first>();
WORMCUBE_ALGORITHMS(scatter_hypercube) = scatter_along<HalvingTree::image>();
WORMCUBE_ALGORITHMS(scatter_mesh) = scatter_along<HalvingTree::dimensions>();
WORMCUBE_ALGORITHMS(gather_halving) = gather_along<HalvingTree::first>();
WORMCUBE_ALGORITHMS(gather_hypercube) = gather_along<HalvingTree::image>();
WORMCUBE_ALGORITHMS(gather_mesh) = gather_along<HalvingTree::dimensions>();

}  // namespace wormcube
