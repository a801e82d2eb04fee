// Total exchange on a torus: Suh and Shin's algorithm.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/suh_torus.hpp"

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/alltoall/torus_core.hpp"
#include "wormcube/collectives/require.hpp"

#include <fmt/core.h>

namespace wormcube {

namespace algorithms {
extern const Algorithm alltoall_suh_torus;
}

void alltoall_suh_torus(Node& node, ConstBlocks out, Blocks in) {
  require_network(algorithms::alltoall_suh_torus, node.topology());
  require_exchange("alltoall_suh_torus", node.size(), out, in);
  const Rank p = node.size();
  const TorusCore core(node.topology(), node.rank());
  const Memory work = node.memory(out.all().size(), Purpose::blocks);
  const Memory second = node.memory(out.all().size());
  Span held = work, spare = second;

  node.local([&] {
    const std::vector<Rank> slots = core.first_slots();
    for (Rank q = 0; q < p; ++q) copy(out[q], Blocks(held, p)[slots[q]]);
  });
  core.exchange(node, held, spare);
  node.local([&] {
    const std::vector<Rank> slots = core.last_slots();
    for (Rank q = 0; q < p; ++q) copy(Blocks(held, p)[slots[q]], in[q]);
  });
}

namespace {

Prediction predict(const Setting& setting) {
  const Topology& topology = setting.topology;
  Prediction prediction = TorusCore::predict(topology);
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
    .needs = {needs::dimensions_at_least(2), needs::rings(), needs::multiples_of(4)},
    .instead = "use mesh or shift",
    .predict = predict,
    .program =
        [](Node& node, const Call& call) {
          wormcube::alltoall_suh_torus(node, call.input, call.output);
        },
};

}  // namespace algorithms

}  // namespace wormcube
