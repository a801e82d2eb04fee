// Round-optimal broadcasts of n packets on any number of nodes, along circulant graphs: the tables.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/options.hpp"
#include "wormcube/collectives/kit/handover.hpp"
#include "wormcube/collectives/kit/loads.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <span>
#include <vector>

namespace wormcube {

struct Setting;

/// What each node sends and receives in every round of a broadcast from node 0 of p. In round k
/// modulo q = ceil(log2 p) node r sends to r + skip(k) and receives from r - skip(k), modulo p.
class Circulant {
 public:
  explicit Circulant(Rank p);

  int q() const { return static_cast<int>(skips_.size()) - 1; }
  /// Of k = 0 .. q: 1, .., p, each half of the next, rounded up.
  Rank skip(int k) const { return skips_[static_cast<std::size_t>(k)]; }
  /// In rounds k = 0 .. q - 1 of the first phase, the packets that node r receives: -1 .. -q
  /// without base - q, and base. A negative one is of an earlier phase.
  std::vector<int> receives(Rank r) const;
  /// The step from the root to r that comes last; of the root q.
  int base(Rank r) const;

  /// The first round of a broadcast of n packets, which has n - 1 + q rounds; k is its number
  /// modulo q.
  Rank first_round(Rank packets) const { return mod(-(packets - 1), q()); }
  /// The packet that an entry of a table stands for in a round; -1 for none.
  Rank packet(int entry, Rank round, Rank packets) const;
  /// A broadcast of n packets, round by round: packets, or -1 for none.
  struct Round {
    int k;
    Rank sent, received;
  };
  std::vector<Round> rounds(Rank r, Rank packets) const;

 private:
  Rank search(Rank x, Rank below, Rank r, unsigned& free, std::vector<int>& found) const;

  Rank p_;
  std::vector<Rank> skips_;
};

/// The reduce-scatter of p broadcasts backwards, from all nodes at once.
Handovers circulant_handovers(Rank p, Rank packets);
std::span<const HandoverPlan> circulant_plans(Node& node, Rank packets);
/// For a broadcast from the root, or a reduction to it. If counting all messages one by one would
/// take long, without contention.
Prediction circulant_cost(const Topology& topology, Rank root, Rank packets, bool backwards);
/// For the reduce-scatter, or the all-gather.
Prediction circulant_all_cost(const Topology& topology, Rank packets, bool backwards);

/// The number of packets with the least time, for q - 1 rounds after the first (best_packets()).
Rank best_circulant_packets(Rank p, Bytes message, const CostModel& model);

// For the entries of the algorithms, all of which have an option `packets`.
/// For one broadcast or reduction: 0 is the best number, which settle_circulant_packets sets.
Option circulant_packets_option();
void settle_circulant_packets(const Setting& setting, const CostModel& model, Bytes block_bytes,
                              Options& options);
/// For those of all nodes.
Option circulant_all_packets_option();
inline Rank circulant_packets(const Options& options) {
  return static_cast<Rank>(options.number("packets"));
}
Rank circulant_parts(const Setting& setting);
/// For all nodes' uneven blocks. A step lasts as long as its largest message, which depends on all
/// sizes: only start-ups have a closed form.
Prediction predict_circulant_uneven(const Setting& setting);

}  // namespace wormcube
