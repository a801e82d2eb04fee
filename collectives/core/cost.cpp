// The cost model, and the limits that ports and cuts of a network set.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/cost.hpp"

#include <algorithm>

namespace wormcube {

std::string_view to_string(Ports ports) { return ports == Ports::one ? "one" : "all"; }

double predicted_us(const Prediction& prediction, const CostModel& model, Bytes block_bytes) {
  const auto transmission =
      prediction.link_blocks ? prediction.link_blocks : prediction.transmission_blocks;
  const auto bytes = static_cast<double>(block_bytes);
  return model.startup_us * prediction.startups.value_or(0) +
         model.transfer_us * bytes * transmission.value_or(0) +
         model.rearrange_us * bytes * prediction.rearranged_blocks.value_or(0) +
         model.combine_us * bytes * prediction.combined_blocks.value_or(0);
}

Limits limits(const Topology& topology, Ports ports) {
  const Rank p = topology.nodes();
  Limits limits{static_cast<double>(p), 0, 1, 1, topology, ports};
  if (ports == Ports::all && p > 1) {
    limits.fewest_ports = limits.most_ports = topology.ports(0);
    for (Rank rank = 1; rank < p; ++rank) {
      limits.most_ports = std::max(limits.most_ports, topology.ports(rank));
      limits.fewest_ports = std::min(limits.fewest_ports, topology.ports(rank));
    }
  }
  for (double informed = 1; informed < p; informed *= limits.most_ports + 1) ++limits.rounds;
  return limits;
}

}  // namespace wormcube
