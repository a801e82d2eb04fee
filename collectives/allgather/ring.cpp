// All-gather on a ring through all nodes of any network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/ring.hpp"

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/holding.hpp"

namespace wormcube {

namespace {

/// All-gather (all-to-all broadcast): every node gives one block and ends with all p blocks in the
/// order of ranks. Each block travels once round a ring through all nodes.
///
/// Network  any, of any p; one-port.
/// Cost     p - 1 steps of one block: (ts + tw m)(p - 1), the least possible transmission.
/// Links    each carries one message in a step, on products of lines, rings, complete graphs and
///          trees. On a line the message from the last node to the first returns over the reverse
///          links, which are idle otherwise. On other graphs the load is counted.
void allgather_ring(Node& node, const Call& call) {
  keep_own(node, call);
  allgather_on_ring(node, Positions(node.topology(), is_by_ring(call.options)), call.output);
}

Prediction predict_allgather_ring(const Setting& setting) {
  const double p = setting.topology.nodes();
  return with_ring_load({p - 1, p - 1, 0, 0}, setting.topology, is_by_ring(setting.options));
}

}  // namespace

WORMCUBE_ALGORITHMS(allgather_ring) = with_variant(
    {
        .operation = operations::allgather,
        .name = "ring",
        .summary = "each block travels once around a ring through all nodes; every network",
        .source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.1, Algorithm 4.4, Eq. 4.2",
        .exactly_once = true,
        .remark = "networks other than lines and rings: our extension",
        .options = {ring_order_option()},
        .predict = predict_allgather_ring,
        .program = allgather_ring,
    },
    [](Algorithm& uneven) {
      uneven.operation = operations::allgatherv;
      uneven.source = "Grama, Gupta, Karypis, Kumar, sec. 4.2.1, Algorithm 4.4";
      uneven.predict = startups_of<predict_allgather_ring>;
    });

}  // namespace wormcube
