// Total exchange on a ring, both ways at once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/ring_all_port.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/alltoall/one_way.hpp"
#include "wormcube/collectives/require.hpp"
#include "wormcube/runtime/node/together.hpp"

namespace wormcube {

namespace algorithms {
extern const Algorithm alltoall_ring_all_port;
}

void alltoall_ring_all_port(Node& node, ConstBlocks out, Blocks in) {
  require_network(algorithms::alltoall_ring_all_port, node.topology());
  require_exchange("alltoall_ring_all_port", node.size(), out, in);
  const Rank p = node.size(), r = node.rank();
  node.local([&] { copy(out[r], in[r]); });
  if (p <= 2) {  // one cable
    alltoall_one_way(node, {+1, p - 1}, out, in);
    return;
  }
  const Rank ways = p % 2 == 0 ? 2 : 1;  // to the node that is farthest
  together(node, {[&](Node& own) {
                    alltoall_one_way(own, {+1, p / 2, 0, ways}, out, in);
                  },
                  [&](Node& own) {
                    alltoall_one_way(own, {-1, p / 2, ways - 1, ways}, out, in);
                  }});
}

namespace algorithms {

WORMCUBE_ALGORITHM(alltoall_ring_all_port){
    .operation = operations::alltoall,
    .name = "ring-all-port",
    .summary = "bundles travel both ways round at once; one ring",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.1 and 4.7.2",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .rows = {{"5.3", "", "ring:8"}, {"5.13", "", "ring:8"}},
    .needs = {needs::dimensions(1), needs::rings()},
    .instead = {"ring-bidirectional", "shift"},
    .predict = [](const Setting& setting) -> Prediction {
      const std::int64_t p = setting.topology.nodes();
      const double d = static_cast<double>(p);
      const double blocks = p == 2 ? 1 : p % 2 == 0 ? d * d / 8 : (d * d - 1) / 8;
      const std::int64_t steps = p / 2;
      return {static_cast<double>(steps), blocks, 0, 0};
    },
    .program =
        [](Node& node, const Call& call) {
          wormcube::alltoall_ring_all_port(node, call.input, call.output);
        },
    .parts = [](const Setting& setting) { return setting.topology.nodes() % 2 == 0 ? 2 : 1; },
};

}  // namespace algorithms

}  // namespace wormcube
