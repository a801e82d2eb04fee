// The cost model, and the limits that ports and cuts of a network set.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/cost.hpp"

#include <algorithm>
#include <cmath>

namespace wormcube {

std::string_view to_string(Ports ports) { return ports == Ports::one ? "one" : "all"; }
std::string_view to_string(Limit limit) {
  return limit == Limit::ports ? "ports" : limit == Limit::link ? "link" : "bus";
}

namespace {

/// In picoseconds, which profiles give as whole numbers: without the rounding of a division.
double picoseconds(double us) {
  constexpr double ps_in_us = 1e6, rounding = 1e-9;
  const double ps = us * ps_in_us, whole = std::round(ps);
  return std::abs(ps - whole) <= rounding * std::max(1.0, whole) ? whole : ps;
}

}  // namespace

ModelTime model_time(const CallCounts& counts, const CostModel& model) {
  constexpr double ps_in_us = 1e6;
  const double hop = picoseconds(model.link_hop_us()), a = counts.startups;
  const double port = picoseconds(model.transfer_us * model.flit_bytes),
               link = picoseconds(model.link_byte_us() * model.flit_bytes);
  const auto flits = [&](double bytes) { return std::max(a, bytes / model.flit_bytes); };
  const double startups = picoseconds(model.startup_us) * a;
  const double port_flits = flits(counts.port_bytes),
               link_flits = counts.link_bytes > 0 ? flits(counts.link_bytes) : 0;
  const double bus = picoseconds(model.bus_us.value_or(0) * model.flit_bytes),
               bus_flits = counts.injected_bytes > 0 ? flits(counts.injected_bytes) : 0;
  const double longest = hop * counts.hops + port * port_flits,
               busiest = hop * a + link * link_flits, injected = hop * a + bus * bus_flits;
  const double rearranged = picoseconds(model.rearrange_us) * counts.rearranged_bytes,
               combined = picoseconds(model.combine_us) * counts.combined_bytes;
  const double sending = std::max({longest, busiest, injected});
  const double total = startups + sending + rearranged + combined;
  const Limit limit = longest >= sending   ? Limit::ports
                      : busiest >= sending ? Limit::link
                                           : Limit::bus;
  return {startups / ps_in_us,
          hop * (limit == Limit::ports ? counts.hops : a) / ps_in_us,
          (limit == Limit::ports  ? port * port_flits
           : limit == Limit::link ? link * link_flits
                                  : bus * bus_flits) /
              ps_in_us,
          rearranged / ps_in_us,
          combined / ps_in_us,
          total / ps_in_us,
          limit};
}

CallCounts call_counts(const Prediction& prediction, Bytes block_bytes) {
  const auto bytes = static_cast<double>(block_bytes);
  const double startups = prediction.startups.value_or(0);
  return {startups,
          prediction.hops.value_or(startups),
          bytes * prediction.transmission_blocks.value_or(0),
          bytes * prediction.link_blocks.value_or(0),
          bytes * prediction.rearranged_blocks.value_or(0),
          bytes * prediction.combined_blocks.value_or(0),
          bytes * prediction.injected_blocks.value_or(0)};
}

double predicted_us(const Prediction& prediction, const CostModel& model, Bytes block_bytes) {
  return model_time(call_counts(prediction, block_bytes), model).total_us;
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
