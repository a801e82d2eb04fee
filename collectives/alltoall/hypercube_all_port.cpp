// Total exchange on a hypercube with all links at once: d rotated copies of the log p exchange.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/bit_exchange.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/runtime/node/together.hpp"

#include <algorithm>

namespace wormcube {

namespace {

/// Total exchange: node r's block q ends as node q's block r. Every block is cut into d = log2 p
/// nearly equal parts; part j crosses the dimensions in the order j, j+1, .., j-1 (mod d), so that
/// in each step the d copies of the exchange use links of different dimensions.
///
/// Network  hypercube; all-port: d messages a step, one over each link.
/// Cost     d steps of p/2 parts: ts log p + tw m p/2, the least that all links together allow;
///          p blocks are rearranged before each step: tr m p log p.
/// Links    each link carries one message in a step.
void alltoall_hypercube_all_port(Node& node, const Call& call) {
  if (node.size() == 1) {
    node.local([&] { copy(call.input[0], call.output[0]); });
    return;
  }
  const int d = node.topology().dimensions();
  together(node, d,
           [&](int j, Node& own) { alltoall_bit_exchange(own, d, j, d, call.input, call.output); });
}

Rank parts(const Setting& setting) {
  const Topology& topology = setting.topology;
  return std::max(1, topology.dimensions());
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_hypercube_all_port){
    .operation = operations::alltoall,
    .name = "hypercube-all-port",
    .summary = "d rotated copies of the log p exchange on all links at once; hypercubes",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.3 and 4.7.2",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .neighbours_only = true,
    .needs = {needs::hypercube()},
    .instead = {"shift"},
    .predict = [](const Setting& setting) -> Prediction {
      const Topology& topology = setting.topology;
      const double p = topology.nodes(), d = topology.dimensions();
      return {d, d > 0 ? p / 2 : 0, d * p, d > 0 ? p : 0};
    },
    .program = alltoall_hypercube_all_port,
    .parts = parts,
};

}  // namespace wormcube
