// Tseng, Gupta, Panda: total exchange on a torus along diagonals; a reconstruction.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/diagonal_exchange.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

namespace wormcube {

namespace {

BlockArray plan_tseng_diagonal(const Topology& topology, Rank rank) {
  const DiagonalExchange exchange(topology, rank);
  BlockArray array(topology.nodes());
  array.lay_out(exchange.before());
  exchange.plan(array, exchange_phases());
  array.deliver(exchange.after());
  return array;
}

/// Total exchange: node r's block q ends as node q's block r. DiagonalExchange on the undivided
/// torus, with its source.
///
/// Network  torus of two dimensions, each a multiple of 4 (published: N x N, N = 2^n); one-port.
/// Cost     a = max(rows, columns): a/2 + 2 steps, (a/4 + 1) p blocks, (a/2 + 1) p rearranged.
/// Links    no link carries two messages in a step.
void alltoall_tseng_diagonal(Node& node, const Call& call) {
  const auto& planned = node.plan<BlockArray>(
      "tseng-diagonal", {}, [&] { return plan_tseng_diagonal(node.topology(), node.rank()); });
  planned.run(node, call.input, call.output);
}

/// The diagonals of c = (j - i) mod 4.
NodeSets diagonals(const Setting& setting) {
  const Topology& topology = setting.topology;
  NodeSets sets{{"diagonal 0", "diagonal 1", "diagonal 2", "diagonal 3"}, {}};
  for (Rank r = 0; r < topology.nodes(); ++r) {
    sets.set_of.push_back(mod(topology.coordinate(r, 1) - topology.coordinate(r, 0), 4));
  }
  return sets;
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_tseng_diagonal){
    .operation = operations::alltoall,
    .name = "tseng-diagonal",
    .summary =
        "like suh-torus, but diagonals start with different dimensions; 2-D tori with sizes of 4, "
        "8, ..",
    .source = "Tseng, Gupta, Panda, by their row in Kim et al., Table 1",
    .contention_free = true,
    .exactly_once = true,
    .remark = "reconstruction",
    .needs = {needs::rings(), needs::multiples_of(4), needs::dimensions(2)},
    .instead = {"suh-torus", "mesh", "shift"},
    .predict = [](const Setting& setting) -> Prediction {
      Prediction prediction = DiagonalExchange::predict(setting.topology);
      prediction.working_blocks = setting.topology.nodes();
      return prediction;
    },
    .program = alltoall_tseng_diagonal,
    .node_sets = diagonals,
};

}  // namespace wormcube
