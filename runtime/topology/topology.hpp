// A network as a product of graphs: coordinates, ranks, links, ports, and the text grammar.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/divisor.hpp"
#include "wormcube/runtime/topology/graph.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube {

/// Signed hops along one dimension; in a complete dimension one hop, to the node whose number is
/// that much larger. The sign is part of the message: at half a ring the router must not choose it.
struct Move {
  int dimension = 0;
  int hops = 0;
  friend bool operator==(const Move&, const Move&) = default;
};

/// The number of a directed link of the whole network.
using Link = std::int64_t;

/// A product of graphs, one per dimension. Two nodes are neighbours when they differ in one
/// coordinate and are neighbours in that dimension's graph. A tree dimension's inner vertices exist
/// once per line of that dimension.
///
/// An immutable value; copying shares the tables.
class Topology {
 public:
  /// \param text  one of network_kinds() (families.hpp), as in `torus:8x8`, a product of them, as
  ///              in `ring:4*line:3*complete:5`, and what has failed: `torus:8x8~3-4~17`
  /// Throws UsageError that points at the offending part.
  static Topology parse(std::string_view text);
  explicit Topology(std::vector<Graph> factors, std::string name = {});

  const std::string& name() const { return name_; }
  /// What the network really is, degenerate dimensions named: "torus:2x8: dimension 0 is one cable
  /// (ring of 2)".
  std::string describe() const;

  Rank nodes() const { return nodes_; }
  int dimensions() const { return static_cast<int>(factors_.size()); }
  const Graph& factor(int dimension) const { return factors_[dimension]; }
  Rank size(int dimension) const { return factors_[dimension].nodes(); }
  std::vector<Rank> sizes() const;
  Rank stride(int dimension) const { return cuts_[dimension].stride.value(); }

  Rank coordinate(Rank rank, int dimension) const {
    const Cut& cut = cuts_[dimension];
    return cut.size.rest(cut.stride.quotient(rank));
  }
  std::vector<Rank> coordinates(Rank rank) const;
  /// The node with these coordinates; each must lie in its dimension.
  Rank rank(std::span<const Rank> coordinates) const;
  /// The node that differs from `rank` in one coordinate.
  Rank with(Rank rank, int dimension, Rank coordinate) const {
    return rank + (coordinate - this->coordinate(rank, dimension)) * stride(dimension);
  }
  /// The node that a move leads to; throws UsageError if there is none.
  Rank neighbour(Rank rank, int dimension, int hops) const;

  bool is_hypercube() const;
  /// True when every factor has this shape (a ring of 2 is also a line of 2, and conversely).
  bool all(Shape shape) const;

  /// Returns the bytes of the routing tables. Throws UsageError if a dimension's graph is too large
  /// for one.
  void require_routable() const;
  std::int64_t routing_table_bytes() const;

  std::int64_t links() const { return link_bases_.back(); }
  int ports(Rank rank) const;
  Link link(Rank rank, int port) const;

  struct Place {
    int dimension;      // the graph that the link belongs to
    Rank line;          // which copy of that graph: the other coordinates, row-major
    std::int64_t link;  // the link's number in that graph
  };
  Place place(Link link) const;
  Link link(const Place& place) const {
    return link_bases_[place.dimension] + place.line * factors_[place.dimension].links() +
           place.link;
  }
  Link first_link(int dimension) const { return link_bases_[dimension]; }
  /// The copy of dimension d's graph that contains this node.
  Rank line(Rank rank, int dimension) const {
    const Cut& cut = cuts_[dimension];
    return cut.outer.quotient(rank) * cut.stride.value() + cut.stride.rest(rank);
  }
  /// The node at this coordinate of that copy.
  Rank on_line(int dimension, Rank line, Rank coordinate) const {
    const Cut& cut = cuts_[dimension];
    return cut.stride.quotient(line) * cut.outer.value() + coordinate * cut.stride.value() +
           cut.stride.rest(line);
  }
  /// "3->4", or "3->s1" where an end is a switch; of products "s0.2.1": dimension, line, switch.
  std::string link_name(Link link) const;
  /// The nodes at the link's ends, -1 where the end is a switch.
  Graph::Ends link_ends(Link link) const;

  /// Equal graphs in each dimension, whatever the names: torus:4x3 is ring:4*ring:3.
  friend bool operator==(const Topology& a, const Topology& b) { return a.factors_ == b.factors_; }

 private:
  std::vector<Graph> factors_;
  // How a rank is cut into one dimension's coordinate, what is inside of it and what outside.
  struct Cut {
    Divisor stride, size, outer;
  };
  std::vector<Cut> cuts_;
  std::vector<Link> link_bases_;  // dimensions() + 1 entries
  Rank nodes_ = 1;
  std::string name_;
};

}  // namespace wormcube
