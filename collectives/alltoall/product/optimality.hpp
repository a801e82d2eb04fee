// Whether a total exchange of a product is optimal: its steps against what ports and cuts demand.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/cost.hpp"

#include <cstdint>
#include <string_view>

namespace wormcube {

/// A rational number, reduced; den > 0.
struct Ratio {
  std::int64_t num = 0, den = 1;
  static Ratio of(std::int64_t num, std::int64_t den);
  std::int64_t ceiling() const { return (num + den - 1) / den; }  // num >= 0
  double value() const { return static_cast<double>(num) / static_cast<double>(den); }
  friend Ratio operator+(Ratio a, Ratio b) {
    return of(a.num * b.den + b.num * a.den, a.den * b.den);
  }
  friend bool operator==(const Ratio&, const Ratio&) = default;
  friend bool operator<(Ratio a, Ratio b) { return a.num * b.den < b.num * a.den; }
};

/// AS(G), the average over nodes of the sum of distances to all others: p * sum_i AS_i / n_i.
/// Bound (3): no one-port exchange takes fewer steps.
Ratio average_status(const Topology& topology);

/// Bound (4): blocks that cross a cut over its links, one way, in the worst of the cuts looked at:
/// in every dimension all cuts of a graph of at most 16 nodes, of a line, ring or complete graph,
/// and those around each node (all within a distance) of others. No all-port exchange takes fewer
/// steps.
Ratio cut_bound(const Topology& topology);

/// What a node of a tree must send itself and for others: more than the average status allows.
/// 0 unless the network is one dimension whose graph is a tree (a line, too).
Ratio tree_bound(const Topology& topology);

struct Optimality {
  std::int64_t steps = 0;
  Ratio bound;  ///< the largest that applies to these ports
  /// Steps equal the bound itself: what the theory's theorems ask of a factor.
  bool met() const { return bound == Ratio{steps, 1}; }
  /// No integer is between: nothing can be faster.
  bool optimal() const { return bound.ceiling() == steps; }
};
/// \param steps  of an exchange with these ports
Optimality optimality(const Topology& topology, Ports ports, std::int64_t steps);

}  // namespace wormcube
