// Total exchange on a ring with both links at once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/one_way.hpp"
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/runtime/node/together.hpp"

namespace wormcube {

namespace {

/// Total exchange: node r's block q ends as node q's block r. Bundles travel in both directions at
/// the same time, every block in the shorter one; the block for the node half way round is split.
///
/// Network  one ring of any p; all-port.
/// Cost     floor(p/2) steps; tw m p^2/8 for even p, tw m (p^2 - 1)/8 for odd p, the least that all
///          links together allow. (A ring of 2 is one cable: 1 block.)
/// Links    each link carries one message in a step.
void alltoall_ring_all_port(Node& node, const Call& call) {
  const Rank p = node.size(), r = node.rank();
  node.local([&] { copy(call.input[r], call.output[r]); });
  if (p <= 2) {  // one cable
    alltoall_one_way(node, {+1, p - 1}, call.input, call.output);
    return;
  }
  const Rank ways = p % 2 == 0 ? 2 : 1;  // to the node that is farthest
  together(node, {[&](Node& own) {
                    alltoall_one_way(own, {+1, p / 2, 0, ways}, call.input, call.output);
                  },
                  [&](Node& own) {
                    alltoall_one_way(own, {-1, p / 2, ways - 1, ways}, call.input, call.output);
                  }});
}

}  // namespace

WORMCUBE_ALGORITHM(alltoall_ring_all_port){
    .operation = operations::alltoall,
    .name = "ring-all-port",
    .summary = "bundles travel in both directions at once; one ring",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.1 and 4.7.2",
    .ports = Ports::all,
    .contention_free = true,
    .exactly_once = true,
    .neighbours_only = true,
    .needs = {needs::dimensions(1), needs::rings()},
    .instead = {"ring-bidirectional", "shift"},
    .predict = [](const Setting& setting) -> Prediction {
      const std::int64_t p = setting.topology.nodes();
      const double d = static_cast<double>(p);
      const double blocks = p == 2 ? 1 : p % 2 == 0 ? d * d / 8 : (d * d - 1) / 8;
      const std::int64_t steps = p / 2;
      return {static_cast<double>(steps), blocks, 0, 0};
    },
    .program = alltoall_ring_all_port,
    .parts = [](const Setting& setting) { return setting.topology.nodes() % 2 == 0 ? 2 : 1; },
};

}  // namespace wormcube
