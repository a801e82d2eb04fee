// Lower bounds of total exchange: status, average distance, and bounds, as exact fractions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wormcube {

/// An exact fraction in lowest terms, its denominator positive. Operations throw
/// std::overflow_error if the result does not fit 64 bits.
class Rational {
 public:
  Rational(std::int64_t numerator = 0, std::int64_t denominator = 1);  // NOLINT: 3 is a fraction
  std::int64_t numerator() const { return numerator_; }
  std::int64_t denominator() const { return denominator_; }

  double value() const;
  std::int64_t ceil() const;
  /// "27/2", "8".
  std::string text() const;

  friend Rational operator+(const Rational& a, const Rational& b);
  friend Rational operator*(const Rational& a, const Rational& b);
  friend Rational operator/(const Rational& a, const Rational& b);
  friend bool operator==(const Rational&, const Rational&) = default;
  friend std::strong_ordering operator<=>(const Rational& a, const Rational& b);

 private:
  std::int64_t numerator_, denominator_;
};

/// Source: V. V. Dimakopoulos, N. J. Dimopoulos, A Theory for Total Exchange in Multidimensional
/// Interconnection Networks, IEEE Trans. Parallel Distrib. Syst. 9(7), 1998.
///
/// Model: each node has one unit message for each other; a step moves one message between
/// neighbours. Products are never enumerated: figures of a product come from those of its factors.
namespace theory {

/// Why the theory does not cover this network: its vertices are not all nodes (a tree's inner ones
/// only switch). Nothing if it does.
std::optional<std::string> excludes(const Topology& topology);

/// The sum of the distances from a node to all others. In a product, n * sum of s_i(v_i) / n_i
/// (Theorem 1).
/// This and all functions below throw UsageError if a factor is excluded, or, except for the cut
/// bound, for an arbitrary graph in which finding all distances takes too long. The cut bound alone
/// also covers trees: switches count on neither side.
std::int64_t status(const Graph& graph, Rank node);
std::int64_t status(const Topology& topology, Rank rank);
/// The smallest and the largest status of any node.
struct StatusRange {
  std::int64_t least, most;
};
StatusRange status_range(const Graph& graph);
StatusRange status_range(const Topology& topology);

/// AS: the mean of all nodes' status; in a product n * sum of AS_i / n_i (Corollary 1). It is also
/// bound (3): with one port, total exchange takes at least this many steps, as each message
/// occupies one sender for each hop.
Rational average_status(const Graph& graph);
Rational average_status(const Topology& topology);
/// AS / (n - 1): the mean distance between two different nodes; 0 for one node.
Rational average_distance(const Topology& topology);

/// Bound (4), all ports: of any two parts V1 and V2, |V1| |V2| messages must pass each way over the
/// cables between them.
struct CutBound {
  Rational steps;
  Rank part = 0;            // nodes of the smaller part of the cut that gives it, 0 for one node
  std::int64_t cables = 0;  // between the parts
  int dimension = -1;       // the one that it cuts across, -1 for any cut
  enum class Searched {
    all,         // the largest bound that any cut gives: by exhaustion, or a closed form
    dimensions,  // the largest of all cuts across one dimension
    some,        // a valid bound, but other cuts may give a larger one
  } searched = Searched::all;
};
CutBound cut_bound(const Graph& graph);
/// In a product, the largest of n / n_i times the bound of a factor; up to 20 nodes, of all cuts.
CutBound cut_bound(const Topology& topology);

/// One port, where there is one route between two nodes (a tree whose vertices are all nodes): the
/// busiest node sends its own n - 1 messages and all that pass through it. Nothing for other
/// networks.
std::optional<std::int64_t> tree_bound(const Topology& topology);

/// All ports: each message occupies one link for each hop; n AS / links.
Rational links_bound(const Topology& topology);

/// The largest of the bounds that hold, and which it is: "average status (3)", "cut (4)", "tree",
/// "links". No total exchange takes fewer steps, with one port or with all.
struct Bound {
  Rational steps;
  std::string_view source;
};
Bound one_port_bound(const Topology& topology);
Bound all_port_bound(const Topology& topology);

}  // namespace theory

}  // namespace wormcube
