// The load that a step's messages put on the links of a network: what predictions of contention are
// made of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/cost.hpp"

#include <optional>
#include <span>
#include <vector>

namespace wormcube {

struct PatternMessage {
  Rank from, to;
  double blocks = 1;
};

struct PatternLoad {
  int link_load = 0;       ///< most messages on one directed link
  double link_blocks = 0;  ///< most of a message's blocks times the busiest link on its way
};

/// The load of messages that are routed by the network: dimension by dimension, the last first, the
/// shorter way round a ring and '+' where both are equal. Time linear in messages, and in hops
/// where their sizes differ or the network is no line or ring. Nothing for graphs too large to be
/// routed.
std::optional<PatternLoad> pattern_load(const Topology& topology,
                                        std::span<const PatternMessage> messages);

/// Sums the steps of an algorithm up, for Prediction::link_load and link_blocks.
class PatternSteps {
 public:
  explicit PatternSteps(const Topology& topology) : topology_(topology) {}

  void add(std::span<const PatternMessage> messages);
  /// Every node r sends so many blocks to node to(r).
  template <class To>
  void add_permutation(double blocks, To to) {
    std::vector<PatternMessage> messages;
    for (Rank r = 0; r < topology_.nodes(); ++r) messages.push_back({r, to(r), blocks});
    add(messages);
  }

  /// The prediction with the loads, where they are known.
  Prediction with_loads(Prediction prediction) const;

 private:
  const Topology& topology_;
  bool known_ = true;
  PatternLoad sum_;
};

}  // namespace wormcube
