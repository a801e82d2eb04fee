// Total exchange on a hypercube with all links at once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/hypercube_all_port.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/alltoall/bit_exchange.hpp"
#include "wormcube/collectives/require.hpp"
#include "wormcube/runtime/node/together.hpp"

#include <algorithm>

namespace wormcube {

namespace algorithms {
extern const Algorithm alltoall_hypercube_all_port;
}

void alltoall_hypercube_all_port(Node& node, ConstBlocks out, Blocks in) {
  require_network(algorithms::alltoall_hypercube_all_port, node.topology());
  require_exchange("alltoall_hypercube_all_port", node.size(), out, in);
  if (node.size() == 1) {
    node.local([&] { copy(out[0], in[0]); });
    return;
  }
  const int d = node.topology().dimensions();
  together(node, d, [&](int j, Node& own) { alltoall_bit_exchange(own, d, j, d, out, in); });
}

namespace {

Rank parts(const Setting& setting) {
  const Topology& topology = setting.topology;
  return std::max(1, topology.dimensions());
}

}  // namespace

namespace algorithms {

WORMCUBE_ALGORITHM(alltoall_hypercube_all_port){
    .operation = operations::alltoall,
    .name = "hypercube-all-port",
    .summary = "d rotated copies of the log p exchange on all links at once; hypercubes",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.3 and 4.7.2",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .rows = {{"5.12", "", "hypercube:4"}, {"5.13", "", "hypercube:4"}},
    .needs = {needs::hypercube()},
    .instead = {"shift"},
    .predict = [](const Setting& setting) -> Prediction {
      const Topology& topology = setting.topology;
      const double p = topology.nodes(), d = topology.dimensions();
      return {d, d > 0 ? p / 2 : 0, d * p, d > 0 ? p : 0};
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::alltoall_hypercube_all_port(node, call.input, call.output);
        },
    .parts = parts,
};

}  // namespace algorithms

}  // namespace wormcube
