// Reduce-scatter on a ring through all nodes of any network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/ring.hpp"

#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

namespace {

/// All nodes' blocks q combined, at node q. The result for node q starts behind it on the ring and
/// travels once round, each node adding its own block. If the operator does not commute, two
/// partial results travel together, over the ranks above q and over those below it.
///
/// Network  any, of any p; one-port. An operator that does not commute needs order=rank, or a ring
///          in the order of ranks.
/// Cost     p - 1 steps. For a commutative operator one block in each: (ts + tw m + tc m)(p - 1).
///          Else two from the second on: ts (p - 1) + tw m (2p - 3) + tc m p, for p > 2.
/// Links    each carries one message in a step, on products of lines, rings, complete graphs and
///          trees. On other graphs the load is counted.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.2.1, Algorithm 4.5, Eq. 4.2. That adds in a
///          cyclic order; the two partial results are ours.
void reduce_scatter_ring(Node& node, const Call& call) {
  reduce_scatter_on_ring(node, Positions(node.topology(), is_by_ring(call.options)),
                         call.arguments.reduction, call.input, call.output.all());
}

Prediction predict_reduce_scatter_ring(const Setting& setting) {
  return with_ring_load(
      reduce_scatter_ring_cost(setting.topology.nodes(), setting.arguments.reduction.commutative),
      setting.topology, is_by_ring(setting.options), setting.arguments.reduction.commutative);
}

}  // namespace

WORMCUBE_ALGORITHMS(reduce_scatter_ring) = with_variant(
    {
        .operation = operations::reduce_scatter,
        .name = "ring",
        .summary = "each result travels once around a ring through all nodes; every network",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.1, Algorithm 4.5, Eq. 4.2",
        .exactly_once = true,
        .remark = "two partial results unless the operator commutes: our extension",
        .options = {ring_order_option()},
        .require = require_ring_order,
        .predict = predict_reduce_scatter_ring,
        .program = reduce_scatter_ring,
    },
    [](Algorithm& uneven) {
      uneven.operation = operations::reduce_scatterv;
      uneven.source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.1, Algorithm 4.5";
      uneven.predict = startups_of<predict_reduce_scatter_ring>;
      uneven.remark = {};
    });

}  // namespace wormcube
