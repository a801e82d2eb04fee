// Total exchange on a torus: Suh and Shin's algorithm.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/suh_torus.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/alltoall/torus_exchange.hpp"
#include "wormcube/collectives/require.hpp"

#include <fmt/core.h>

namespace wormcube {

namespace algorithms {
extern const Algorithm alltoall_suh_torus;
}

namespace {

BlockArray plan_suh_torus(const Topology& topology, Rank rank) {
  require_network(algorithms::alltoall_suh_torus, topology);
  const TorusExchange exchange(topology, rank);
  BlockArray array(topology.nodes());
  array.lay_out(exchange.before());
  exchange.plan(array);
  array.deliver(exchange.after());
  return array;
}

}  // namespace

void alltoall_suh_torus(Node& node, ConstBlocks out, Blocks in) {
  const auto& planned = node.plan<BlockArray>(
      "suh-torus", {}, [&] { return plan_suh_torus(node.topology(), node.rank()); });
  require_exchange("alltoall_suh_torus", node.size(), out, in);
  planned.run(node, out, in);
}

namespace {

Prediction predict_suh_torus(const Setting& setting) {
  const Topology& topology = setting.topology;
  Prediction prediction = TorusExchange::predict(topology);
  prediction.working_blocks = topology.nodes();
  return prediction;
}

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(alltoall_suh_torus){
    .operation = operations::alltoall,
    .name = "suh-torus",
    .summary = "rings of 4x4 cells, then two hops, then one; tori with sizes of 4, 8, 12, ..",
    .source = "Suh, Shin, as given by Kim et al., sec. 2; n dimensions after its description",
    .contention_free = true,
    .exactly_once = true,
    .needs = {needs::dimensions_at_least(2), needs::rings(), needs::multiples_of(4)},
    .instead = {"mesh", "shift"},
    .predict = predict_suh_torus,
    .program =
        [](Node& node, const Call& call) {
          wormcube::alltoall_suh_torus(node, call.input, call.output);
        },
};

}  // namespace algorithms

}  // namespace wormcube
