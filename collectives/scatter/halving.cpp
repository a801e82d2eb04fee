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
void scatter_uneven(Algorithm& uneven) {
  uneven.operation = operations::scatterv;
  uneven.predict = predict_halving_uneven<tree>;
}

}  // namespace

WORMCUBE_ALGORITHMS(scatter_halving) = with_variant(
    {
        .operation = operations::scatter,
        .name = "halving",
        .summary = "by interval halving, any number of nodes; every network",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.4, problem 4.1",
        .exactly_once = true,
        .remark = "free of contention in one dimension, and where all sizes are powers of two",
        .predict = predict_halving<HalvingTree::first>,
        .program = scatter_by_halving<HalvingTree::first>,
    },
    scatter_uneven<HalvingTree::first>);

WORMCUBE_ALGORITHMS(scatter_hypercube) = with_variant(
    {
        .operation = operations::scatter,
        .name = "hypercube",
        .summary = "along the hypercube's tree, highest bit first; 2^d nodes of every network",
        .source =
            "Grama, Gupta, Karypis, Kumar, sec. 4.4, Fig. 4.15, Eq. 4.6, problems 4.7, 4.24, 4.26",
        .exactly_once = true,
        .remark = "free of contention but on arbitrary graphs",
        .needs = {needs::nodes_power_of_two()},
        .instead = {"halving"},
        .predict = predict_halving<HalvingTree::image>,
        .program = scatter_by_halving<HalvingTree::image>,
    },
    scatter_uneven<HalvingTree::image>);

WORMCUBE_ALGORITHMS(scatter_mesh) = with_variant(
    {
        .operation = operations::scatter,
        .name = "mesh",
        .summary = "by halving, dimension by dimension; every network",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.4, problem 4.7",
        .exactly_once = true,
        .remark = "free of contention but on arbitrary graphs, and trees without 2^d leaves",
        .predict = predict_halving<HalvingTree::dimensions>,
        .program = scatter_by_halving<HalvingTree::dimensions>,
    },
    scatter_uneven<HalvingTree::dimensions>);

}  // namespace wormcube
