// Partial results across one bit after another.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/bit_handover.hpp"

#include "wormcube/collectives/kit/hops.hpp"
#include "wormcube/collectives/kit/links.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>

namespace wormcube {

namespace {

/// Whether partners across this bit are half a ring apart, where both directions are equally long.
bool is_tie(const Topology& topology, int bit) {
  const auto [d, local] = rank_bit(topology, bit);
  return topology.factor(d).wraps() && 2 << local == topology.size(d);
}

}  // namespace

Handovers bit_handovers(const Topology& topology, std::vector<int> bits, RingTies ties) {
  WORMCUBE_ASSERT(is_power_of_two(topology.nodes()));
  Handovers handovers{static_cast<int>(bits.size())};
  handovers.lanes = [=](Rank r, int step) {
    const int bit = bits[static_cast<std::size_t>(step)];
    Peer partner{r ^ 1 << bit};
    if (ties == RingTies::balanced && is_tie(topology, bit)) {
      const auto [d, local] = rank_bit(topology, bit);
      partner.move = {d, topology.coordinate(r, d) % 2 == 0 ? 1 << local : -(1 << local)};
    }
    return std::vector<Lane>{{partner, partner}};
  };
  handovers.turns = turns_by(topology.nodes(), 1, [=](Rank r, Rank block, int /*share*/) {
    const auto differs = [&](int bit) { return ((r ^ block) >> bit & 1) != 0; };
    return Handovers::Turn{static_cast<int>(std::ranges::find_if(bits, differs) - bits.begin()), 0};
  });
  return handovers;
}

Prediction bit_handover_cost(const Topology& topology, std::span<const int> bits, RingTies ties) {
  const Rank p = topology.nodes();
  Prediction prediction{.startups = static_cast<double>(bits.size()),
                        .transmission_blocks = p - 1.0,
                        .rearranged_blocks = 0,
                        .combined_blocks = p - 1.0};
  std::vector<Rank> masks;
  for (const int bit : bits) masks.push_back(1 << bit);
  prediction.hops = hops_of_exchanges(topology, masks);
  double most = 0, on_links = 0, blocks = p;
  for (const int bit : bits) {
    blocks /= 2;
    auto load = load_across(topology, bit);
    if (!load) return prediction;
    // The even half goes up, the odd one down: of the n/2 senders behind a link, every second uses
    // it.
    if (ties == RingTies::balanced && is_tie(topology, bit)) *load /= 2;
    most = std::max(most, *load);
    on_links += blocks * *load;
  }
  prediction.link_load = most, prediction.link_blocks = on_links;
  return prediction;
}

std::vector<int> bits_ascending(const Topology& topology) {
  std::vector<int> bits;
  for (int bit = 0; 1 << bit < topology.nodes(); ++bit) bits.push_back(bit);
  return bits;
}

std::vector<int> bits_interleaved(const Topology& topology) {
  std::vector<int> bits;
  for (int local = 0; static_cast<int>(bits.size()) < log2_ceiling(topology.nodes()); ++local) {
    for (int d = topology.dimensions() - 1; d >= 0; --d) {
      if (1 << local < topology.size(d)) bits.push_back(log2_ceiling(topology.stride(d)) + local);
    }
  }
  return bits;
}

}  // namespace wormcube
