// Total exchange on a torus: Suh and Shin's algorithm.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/suh_torus.hpp"

#include "wormcube/collectives/alltoall/torus_core.hpp"
#include "wormcube/collectives/require.hpp"

#include <fmt/core.h>

namespace wormcube {

void alltoall_suh_torus(Node& node, ConstBlocks out, Blocks in) {
  require_alltoall_suh_torus(node.topology());
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

void require_alltoall_suh_torus(const Topology& topology, const Parameters& /*parameters*/) {
  const auto fail = [](std::string_view need, std::string_view has) {
    throw UsageError(fmt::format("suh-torus: {}; {}; use mesh or shift", need, has));
  };
  if (topology.dimensions() < 2) {
    fail("needs a torus of two dimensions or more",
         fmt::format("{} has {}", topology.name(), topology.dimensions()));
  }
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.factor(d).shape() != Shape::ring) {
      fail("every dimension must be a ring",
           fmt::format("{} has {}", topology.name(), topology.factor(d).name()));
    }
    if (topology.size(d) % 4 != 0) {
      fail("every dimension must be a multiple of 4",
           fmt::format("{} has {}", topology.name(), topology.size(d)));
    }
  }
}

Prediction predict_alltoall_suh_torus(const Topology& topology, const Parameters& /*parameters*/) {
  Prediction prediction = TorusCore::predict(topology);
  prediction.peak_blocks = topology.nodes();
  return prediction;
}

}  // namespace wormcube
