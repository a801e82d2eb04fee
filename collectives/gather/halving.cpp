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
void gather_uneven(Algorithm& uneven) {
  uneven.operation = operations::gatherv;
  uneven.predict = predict_halving_uneven<tree>;
}

}  // namespace

WORMCUBE_ALGORITHMS(gather_halving) = with_variant(
    {
        .operation = operations::gather,
        .name = "halving",
        .summary = "by interval halving, any number of nodes; every network",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.4, problem 4.1",
        .exactly_once = true,
        .remark = "free of contention in one dimension, and where all sizes are powers of two",
        .predict = predict_halving<HalvingTree::first>,
        .program = gather_by_halving<HalvingTree::first>,
    },
    gather_uneven<HalvingTree::first>);

WORMCUBE_ALGORITHMS(gather_hypercube) = with_variant(
    {
        .operation = operations::gather,
        .name = "hypercube",
        .summary = "along the hypercube's tree, lowest bit first; 2^d nodes of every network",
        .source =
            "Grama, Gupta, Karypis, Kumar, sec. 4.4, Fig. 4.15, Eq. 4.6, problems 4.7, 4.24, 4.26",
        .exactly_once = true,
        .remark = "free of contention but on arbitrary graphs",
        .needs = {needs::nodes_power_of_two()},
        .instead = {"halving"},
        .predict = predict_halving<HalvingTree::image>,
        .program = gather_by_halving<HalvingTree::image>,
    },
    gather_uneven<HalvingTree::image>);

WORMCUBE_ALGORITHMS(gather_mesh) = with_variant(
    {
        .operation = operations::gather,
        .name = "mesh",
        .summary = "by halving, dimension by dimension; every network",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.4, problem 4.7",
        .exactly_once = true,
        .remark = "free of contention but on arbitrary graphs, and trees without 2^d leaves",
        .predict = predict_halving<HalvingTree::dimensions>,
        .program = gather_by_halving<HalvingTree::dimensions>,
    },
    gather_uneven<HalvingTree::dimensions>);

}  // namespace wormcube
