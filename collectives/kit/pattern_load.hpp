// The load that a step's messages put on the links of a network: the basis of contention
// predictions.
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
  double link_blocks = 0;  ///< most blocks on one directed link
  double hops = 0;         ///< links of the longest route
};

/// The load of messages that the network routes: dimension by dimension, the last first, in the
/// shorter direction round a ring and '+' if both are equal. Time linear in messages, in the links
/// of the dimensions that they cross, and in hops if their sizes differ or the network is not a
/// line or ring. The memory of one call serves the next.
class PatternLoads {
 public:
  explicit PatternLoads(const Topology& topology);
  ~PatternLoads();
  PatternLoads(const PatternLoads&) = delete;
  PatternLoads& operator=(const PatternLoads&) = delete;
  /// Nothing for graphs too large to be routed.
  std::optional<PatternLoad> operator()(std::span<const PatternMessage> messages);

 private:
  class DimensionLoad;
  template <class Amount>
  double busiest(std::span<const PatternMessage> messages, Amount amount);

  const Topology& topology_;
  bool routable_;
  std::vector<DimensionLoad> dimensions_;
};
/// The same for one step.
std::optional<PatternLoad> pattern_load(const Topology& topology,
                                        std::span<const PatternMessage> messages);

/// Sums up the steps of an algorithm, for Prediction::link_load, link_blocks and hops.
class PatternSteps {
 public:
  explicit PatternSteps(const Topology& topology) : topology_(topology), loads_(topology) {}

  void add(std::span<const PatternMessage> messages);
  /// Every node r sends this many blocks to node to(r).
  template <class To>
  void add_permutation(double blocks, To to) {
    std::vector<PatternMessage> messages;
    for (Rank r = 0; r < topology_.nodes(); ++r) messages.push_back({r, to(r), blocks});
    add(messages);
  }

  /// The prediction with the loads, if they are known.
  Prediction with_loads(Prediction prediction) const;

 private:
  const Topology& topology_;
  PatternLoads loads_;
  bool known_ = true;
  PatternLoad sum_;
};

}  // namespace wormcube
