// One dimension of a product network: a small graph with numbered links and one routing rule.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/shapes.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace wormcube {

/// The kind of a graph, in the order of its alternatives.
enum class Shape { line, ring, complete, tree, graph };
/// The grammar's word: "ring".
std::string_view to_string(Shape shape);

/// A connected graph in which vertices 0 .. nodes()-1 are nodes and the rest (inner vertices of a
/// tree) only switch. Links are directed, numbered 0 .. links()-1, and closed-form for every shape
/// but `graph`. A cheap-to-copy value.
///
/// Degenerate sizes: one node has no link; a ring of 2 is one cable, as a line of 2 is.
///
/// Routing is deterministic: along a line; the shorter way round a ring, '+' when both are equal;
/// direct in a complete graph; up to the nearest common ancestor and down in a tree; the shortest
/// up*/down* path in an arbitrary graph: of the spanning tree that a breadth-first search from
/// vertex 0 finds, a link that leads to a lower level, or to a lower number on one level, goes up,
/// and no route goes up after it went down.
class Graph {
 public:
  static Graph line(Rank nodes);
  static Graph ring(Rank nodes);
  static Graph complete(Rank nodes);
  static Graph tree(Rank leaves);
  /// \param edges  undirected edges over 0 .. nodes-1
  /// Throws UsageError on loops, duplicates, a disconnected graph.
  static Graph arbitrary(Rank nodes, const std::vector<std::pair<Rank, Rank>>& edges,
                         std::string name);
  /// The Cayley graph of a group. \param note  what a degenerate size really is, or nothing
  static Graph from_group(CayleyStructure group, std::string name, std::string note = {});
  /// Reads an edge list: two vertex numbers a line, separated by blanks or a comma; '#' starts a
  /// comment. Throws UsageError with the line's number.
  static Graph read(const std::string& file);

  Shape shape() const { return static_cast<Shape>(shape_.index()); }
  Rank nodes() const { return nodes_; }
  Rank vertices() const;
  std::int64_t links() const;
  /// The grammar's text: "ring:7", "graph:FILE".
  std::string name() const;

  using Ends = LinkEnds;
  /// What a degenerate size really is: "a ring of 6"; mostly empty.
  const std::string& note() const;

  /// Equal links, numbers and routes, whatever the names: a line and a ring of 2 (one cable) or of
  /// 1 are equal.
  friend bool operator==(const Graph& a, const Graph& b);

  /// The group, if the graph is known as a Cayley graph: rings, complete graphs, one cable, one
  /// node, and graphs made from a group. Null otherwise. Keep it: rings build it on each call.
  std::shared_ptr<const CayleyStructure> cayley() const;

  /// The two vertices that a link joins.
  Ends ends(std::int64_t link) const;

  /// Ports of a vertex are its outgoing links in a fixed order: '+' then '-' on lines and rings,
  /// neighbours ascending elsewhere (tree: up, then left, right).
  int ports(Rank vertex) const;
  std::int64_t link(Rank vertex, int port) const;

  /// Whether it has this shape, as operator== sees it: lines and rings of 1 or 2 nodes have both.
  bool is(Shape shape) const {
    const bool both = has_direction() && nodes_ <= 2;
    return this->shape() == shape || (both && (shape == Shape::line || shape == Shape::ring));
  }
  /// Whether signed hops have a meaning here: in lines and rings.
  bool has_direction() const { return shape() == Shape::line || shape() == Shape::ring; }
  /// Whether a move has a meaning here: also in a complete graph, where a move of h is one hop, to
  /// the node whose number is h larger, modulo n.
  bool has_moves() const { return has_direction() || shape() == Shape::complete; }
  /// True where a signed move can go round: a ring of 3 or more.
  bool wraps() const { return shape() == Shape::ring && nodes_ > 2; }
  /// The signed hops from one node of a line or ring to another: the shorter direction; '+' when
  /// equal.
  int hops(Rank from, Rank to) const;
  /// The node that a move of this many hops leads to; -1 if a line ends before that, or if it would
  /// go once round or more. On one cable (a line or ring of 2) either sign leads to the other node,
  /// so that ring programs run there too.
  Rank moved(Rank from, int hops) const;

  /// The next link from `at` towards node `to`. `up` is the routing state of graphs (true until the
  /// first down link) and is ignored elsewhere; start with true. Lines and rings are routed by
  /// hops, not by this. The first call for an arbitrary graph builds a table of all pairs.
  /// Throws UsageError for an arbitrary graph that is too large for it: see routable().
  std::int64_t next(Rank at, Rank to, bool& up) const;

  /// Whether next() may be called: arbitrary graphs of up to 8192 nodes, with nodes x links up to
  /// 2^30, and all other shapes.
  bool routable() const;
  /// Throws UsageError, with both figures, unless routable().
  void require_routable() const;
  /// The size of the table that the first next() builds; 0 if routes have a closed form.
  std::int64_t routing_table_bytes() const;

  /// Whether a link of a tree or arbitrary graph goes up. A route turns from link a into link b
  /// unless b goes up and a does not.
  bool goes_up(std::int64_t link) const;
  /// The turns that the routing rule may take: (incoming link, outgoing link) at one vertex. For
  /// trees and graphs. There are about links x ports of them.
  std::vector<std::pair<std::int64_t, std::int64_t>> turns() const;

  using Distances = GraphDistances;
  /// Found by breadth-first searches on first use: one if the graph is a Cayley graph, none if it
  /// is a tree. Null if they would visit more than 2^31 links, and for other shapes.
  const Distances* distances() const;
  /// The hops from a vertex to every other, breadth first.
  std::vector<int> distances_from(Rank vertex) const;

  /// The largest distance between two nodes, in links; nothing if it takes too long to find.
  /// (Up*/down* routes may be longer.)
  std::optional<int> diameter() const;

 private:
  using AnyShape =
      std::variant<shapes::Line, shapes::Ring, shapes::Complete, shapes::Tree, shapes::Arbitrary>;
  Graph(AnyShape shape, Rank nodes) : shape_(std::move(shape)), nodes_(nodes) {}

  AnyShape shape_;
  Rank nodes_;
};

}  // namespace wormcube
