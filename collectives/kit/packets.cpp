// The best number of packets.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/packets.hpp"

#include "wormcube/collectives/core/algorithm.hpp"

#include <algorithm>
#include <cmath>

namespace wormcube {

Rank best_packets(Bytes message, double rounds, const CostModel& model) {
  constexpr auto most = static_cast<double>(most_settled);
  const auto bytes = static_cast<double>(message);
  const double transfer_us = rounds * bytes * model.transfer_us;
  const double step_us = model.startup_us + model.link_hop_us();
  if (transfer_us <= 0) return 1;  // nothing to overlap
  const double flits = std::ceil(bytes / model.flit_bytes);
  return static_cast<Rank>(
      std::clamp(std::round(std::sqrt(transfer_us / step_us)), 1.0, std::min(most, flits)));
}

}  // namespace wormcube
