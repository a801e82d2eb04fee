// Total exchange on a torus: rings of cells of 4 nodes a side, then two hops, then one.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/torus_exchange.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

namespace {

BlockArray plan_suh_torus(const Topology& topology, Rank rank) {
  const TorusExchange exchange(topology, rank);
  BlockArray array(topology.nodes());
  array.lay_out(exchange.before());
  exchange.plan(array, exchange_phases());
  array.deliver(exchange.after());
  return array;
}

/// Total exchange: node r's block q ends as node q's block r. TorusExchange on the undivided torus.
///
/// Network  torus of n >= 2 dimensions, each a multiple of 4; one-port.
/// Cost     R x C, a = max(R, C): a/2 + 2 steps, (a/4 + 1) p blocks, 3p rearranged (4x4: p).
///          n dimensions of a: n(a/4 + 1) steps of p/2 blocks on average, (n+1)p rearranged (a = 4:
///          p). Other sizes: see TorusExchange.
/// Links    no link carries two messages in a step; in the ring phases of a square torus every link
///          carries one.
/// Source   Suh and Shin, as S. Kim et al. describe and count it (Complete Exchange Algorithms in
///          Wormhole-Routed Torus Networks, ref. [6]); n dimensions and unequal sizes are ours.
void alltoall_suh_torus(Node& node, const Call& call) {
  const auto& planned = node.plan<BlockArray>(
      "suh-torus", {}, [&] { return plan_suh_torus(node.topology(), node.rank()); });
  planned.run(node, call.input, call.output);
}

Prediction predict_suh_torus(const Setting& setting) {
  const Topology& topology = setting.topology;
  Prediction prediction = TorusExchange::predict(topology);
  prediction.working_blocks = topology.nodes();
  return prediction;
}

/// The classes of nodes that move along the same dimension at any time.
NodeSets classes(const Setting& setting) {
  const Topology& topology = setting.topology;
  NodeSets sets{{"class 0", "class 1", "class 2", "class 3"}, {}};
  for (Rank r = 0; r < topology.nodes(); ++r) {
    Rank sum = 0;
    for (int d = 0; d < topology.dimensions(); ++d) sum += topology.coordinate(r, d);
    sets.set_of.push_back(sum % 4);
  }
  return sets;
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_suh_torus){
    .operation = operations::alltoall,
    .name = "suh-torus",
    .summary =
        "exchanges in rings of 4x4 cells, then over two hops, then over one; tori with sizes of 4, "
        "8, 12, ..",
    .source = "Suh, Shin, as given by Kim et al., sec. 2; n dimensions after its description",
    .contention_free = true,
    .exactly_once = true,
    .needs = {needs::dimensions_at_least(2), needs::rings(), needs::multiples_of(4)},
    .instead = {"mesh", "shift"},
    .predict = predict_suh_torus,
    .program = alltoall_suh_torus,
    .node_sets = classes,
};

}  // namespace wormcube
