// The search for receive tables, and what they imply.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/circulant.hpp"

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/packets.hpp"
#include "wormcube/runtime/base/recently_made.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace wormcube {

Circulant::Circulant(Rank p) : p_(p) {
  skips_.assign(static_cast<std::size_t>(log2_ceiling(p)) + 1, p);
  for (std::size_t k = skips_.size() - 1; k-- > 0;) skips_[k] = (skips_[k + 1] + 1) / 2;
}

std::vector<int> Circulant::receives(Rank r) const {
  const int q = this->q(), base = this->base(r);
  unsigned free = ((2U << static_cast<unsigned>(q)) - 1U) & ~(1U << static_cast<unsigned>(base));
  std::vector<int> found;
  search(0, 2 * p_, r, free, found);
  for (int& e : found) e = e == q ? base : e - q;
  WORMCUBE_ASSERT(std::cmp_equal(found.size(), q));
  return found;
}

int Circulant::base(Rank r) const {
  Rank x = r;
  for (int e = q() - 1; e >= 0; --e) {
    if (x < skip(e)) continue;
    x -= skip(e);
    if (x == 0) return e;
  }
  return q();
}

/// Entries of r's table from x on, as bits of `free`, those below a limit that it returns.
Rank Circulant::search(Rank x, Rank below, Rank r, unsigned& free, std::vector<int>& found) const {
  const int q = this->q();
  const auto k = [&] { return static_cast<int>(found.size()); };
  const auto has = [](unsigned set, int e) { return (set >> static_cast<unsigned>(e) & 1U) != 0; };
  const unsigned on_entry = free;
  for (int e = q; e >= 0 && k() < q; --e) {
    if (!has(on_entry, e) || !has(free, e)) continue;  // the latter: used meanwhile
    const Rank y = x + skip(e);
    if (y > r + p_ - skip(k()) || y >= below) continue;
    if (y <= r + p_ - skip(k() + 1)) below = search(y, below, r, free, found);
    if (k() == q || x > r + p_ - skip(k() + 1)) break;
    below = y;
    found.push_back(e);
    free &= ~(1U << static_cast<unsigned>(e));
  }
  return below;
}

Rank Circulant::packet(int entry, Rank round, Rank packets) const {
  const Rank number = entry + round / q() * q() - first_round(packets);
  return number < 0 ? -1 : std::min(number, packets - 1);
}

std::vector<Circulant::Round> Circulant::rounds(Rank r, Rank packets) const {
  std::vector<Round> rounds;
  const int q = this->q();
  if (q == 0) return rounds;
  const std::vector<int> own = receives(r);
  std::vector<int> next;  // what the receiver of r's message has for it
  for (int k = 0; k < q; ++k) {
    next.push_back(receives(mod(r + skip(k), p_))[static_cast<std::size_t>(k)]);
  }
  const Rank first = first_round(packets);
  for (Rank i = first; i < first + packets - 1 + q; ++i) {
    const int k = i % q;
    const auto of = [&](const std::vector<int>& table, Rank node) {
      return node == 0 ? -1 : packet(table[static_cast<std::size_t>(k)], i, packets);
    };
    rounds.push_back({k, of(next, mod(r + skip(k), p_)), of(own, r)});
  }
  return rounds;
}

Handovers circulant_handovers(Rank p, Rank packets) {
  const auto circulant = std::make_shared<const Circulant>(p);
  const int rounds = packets - 1 + circulant->q();
  // By place relative to the root and packet: the step, from the end, in which it is received.
  auto turns = std::make_shared<std::vector<int>>(static_cast<std::size_t>(p) *
                                                  static_cast<std::size_t>(packets));
  for (Rank y = 1; y < p; ++y) {
    const std::vector<int> table = circulant->receives(y);
    const Rank first = circulant->first_round(packets);
    for (Rank i = 0; i < rounds; ++i) {
      const auto k = static_cast<std::size_t>((first + i) % circulant->q());
      const Rank packet = circulant->packet(table[k], first + i, packets);
      if (packet < 0) continue;
      (*turns)[static_cast<std::size_t>(y) * static_cast<std::size_t>(packets) +
               static_cast<std::size_t>(packet)] = rounds - 1 - i;
    }
  }
  Handovers handovers{circulant->q() == 0 ? 0 : rounds, packets};
  handovers.lanes = [=](Rank r, int step) {
    const int k = (circulant->first_round(packets) + rounds - 1 - step) % circulant->q();
    const Rank skip = circulant->skip(k);
    return std::vector<Lane>{{{mod(r - skip, p)}, {mod(r + skip, p)}}};
  };
  handovers.turns = turns_by(p, packets, [=](Rank r, Rank block, int share) {
    const auto y = static_cast<std::size_t>(mod(r - block, p));
    return Handovers::Turn{
        (*turns)[y * static_cast<std::size_t>(packets) + static_cast<std::size_t>(share)], 0};
  });
  return handovers;
}

std::span<const HandoverPlan> circulant_plans(Node& node, Rank packets) {
  return node.plan<std::vector<HandoverPlan>>("circulant", {packets}, [&] {
    static RecentlyMade<std::pair<Rank, Rank>, Handovers> made;  // the same for all nodes
    const auto handovers =
        made({node.size(), packets}, [&] { return circulant_handovers(node.size(), packets); });
    return std::vector{HandoverPlan(*handovers, node.size(), node.rank())};
  });
}

Prediction circulant_cost(const Topology& topology, Rank root, Rank packets, bool backwards) {
  const Rank p = topology.nodes();
  const Circulant circulant(p);
  const int q = circulant.q();
  const double rounds = q == 0 ? 0 : packets - 1.0 + q;
  Prediction prediction{
      .startups = rounds, .transmission_blocks = rounds / packets, .rearranged_blocks = 0};
  std::vector<std::vector<Circulant::Round>> all;
  constexpr double most_messages = 1 << 20;
  if (rounds * p > most_messages) return prediction;
  for (Rank y = 0; y < p; ++y) all.push_back(circulant.rounds(y, packets));
  std::vector<Messages> steps;
  for (std::size_t i = 0; i < all[0].size(); ++i) {
    Messages& step = steps.emplace_back();
    for (Rank y = 0; y < p; ++y) {
      const auto& round = all[static_cast<std::size_t>(y)][i];
      if (round.sent < 0) continue;
      const Rank from = mod(y + root, p), to = mod(from + circulant.skip(round.k), p);
      step.push_back({backwards ? to : from, backwards ? from : to, 1.0 / packets});
    }
  }
  predict_contention(prediction, topology, steps);
  return prediction;
}

Prediction circulant_all_cost(const Topology& topology, Rank packets, bool backwards) {
  const Rank p = topology.nodes();
  const Handovers handovers = circulant_handovers(p, packets);
  // All nodes alike: the shares that node 0 passes on in each step.
  std::vector<double> blocks(static_cast<std::size_t>(handovers.steps), 0);
  std::vector<Handovers::Turn> turns(static_cast<std::size_t>(p) *
                                     static_cast<std::size_t>(packets));
  handovers.turns(0, turns);
  for (const auto& [step, lane] : std::span(turns).subspan(static_cast<std::size_t>(packets))) {
    blocks[static_cast<std::size_t>(step)] += 1.0 / packets;
  }
  Prediction prediction{.startups = static_cast<double>(handovers.steps),
                        .transmission_blocks = p - 1.0,
                        .rearranged_blocks = 0,
                        .combined_blocks = p - 1.0};
  std::vector<Messages> steps;
  for (int i = 0; i < handovers.steps; ++i) {
    Messages& step = steps.emplace_back();
    for (Rank r = 0; r < p; ++r) {
      const Rank to = handovers.lanes(r, i)[0].to.rank;
      step.push_back({backwards ? r : to, backwards ? to : r, blocks[static_cast<std::size_t>(i)]});
    }
  }
  predict_contention(prediction, topology, steps);
  return prediction;
}

Rank best_circulant_packets(Rank p, Bytes message, const CostModel& model) {
  return best_packets(message, log2_ceiling(p) - 1, model);
}

Option circulant_packets_option() {
  return {.name = "packets",
          .least = 0,
          .most = most_packets,
          .help = "number of packets; 0: sqrt((ceil(log2 p) - 1) m tw / ts), at most m and 4096"};
}

void settle_circulant_packets(const Setting& setting, const CostModel& model, Bytes block_bytes,
                              Options& options) {
  if (circulant_packets(setting.options) > 0) return;
  const Rank best = best_circulant_packets(setting.topology.nodes(), block_bytes, model);
  options.set("packets", std::to_string(best));
}

Option circulant_all_packets_option() {
  return {.name = "packets",
          .preset = 1,
          .least = 1,
          .most = most_packets,
          .help = "number of packets per block; more packets pay off if the blocks differ in size"};
}

Rank circulant_parts(const Setting& setting) {
  return std::max(1, circulant_packets(setting.options));
}

Prediction predict_circulant_uneven(const Setting& setting) {
  const Rank p = setting.topology.nodes();
  return {.startups = p > 1 ? circulant_packets(setting.options) - 1.0 + log2_ceiling(p) : 0};
}

}  // namespace wormcube
