// The shapes that a graph can have: each numbers its links and computes its routes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/rank.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace wormcube {

struct CayleyStructure;

/// The two vertices that a link joins.
struct LinkEnds {
  Rank from, to;
};

/// From each vertex of an arbitrary graph, the sum of the distances to all others; and the largest
/// distance.
struct GraphDistances {
  std::vector<std::int64_t> status;
  int diameter = 0;
};

/// The alternatives that a Graph forwards to; Graph documents their functions. All of them are
/// cheap to copy, and equal if links, numbers and routes are.
namespace shapes {

/// 0 - 1 - .. - n-1: the links '+', by the node that they leave, then the links '-'.
struct Line {
  Rank nodes;

  std::int64_t links() const { return 2 * (std::int64_t{nodes} - 1); }
  LinkEnds ends(std::int64_t link) const;
  int ports(Rank vertex) const { return (vertex + 1 < nodes ? 1 : 0) + (vertex > 0 ? 1 : 0); }
  std::int64_t link(Rank vertex, int port) const {
    return leaving(vertex, port == 0 && vertex + 1 < nodes);
  }
  static int hops(Rank from, Rank to) { return to - from; }
  std::int64_t next(Rank at, Rank to, bool& /*up*/) const { return leaving(at, to > at); }
  std::optional<int> diameter() const { return nodes - 1; }
  std::shared_ptr<const CayleyStructure> cayley() const;
  friend bool operator==(const Line&, const Line&) = default;

 private:
  std::int64_t leaving(Rank at, bool plus) const { return plus ? at : nodes - 1 + at - 1; }
};

/// A line whose ends are joined, numbered as a line is. Of one or two nodes it is a line.
struct Ring {
  Rank nodes;

  bool wraps() const { return nodes > 2; }
  std::int64_t links() const { return wraps() ? 2 * std::int64_t{nodes} : Line{nodes}.links(); }
  LinkEnds ends(std::int64_t link) const;
  int ports(Rank vertex) const { return wraps() ? 2 : Line{nodes}.ports(vertex); }
  std::int64_t link(Rank vertex, int port) const {
    return wraps() ? leaving(vertex, port == 0) : Line{nodes}.link(vertex, port);
  }
  int hops(Rank from, Rank to) const {
    if (!wraps()) return Line::hops(from, to);
    const Rank plus = to >= from ? to - from : to - from + nodes;
    return plus <= nodes - plus ? plus : plus - nodes;
  }
  std::int64_t next(Rank at, Rank to, bool& up) const {
    return wraps() ? leaving(at, hops(at, to) > 0) : Line{nodes}.next(at, to, up);
  }
  std::optional<int> diameter() const { return nodes / 2; }
  std::shared_ptr<const CayleyStructure> cayley() const;
  friend bool operator==(const Ring&, const Ring&) = default;

 private:
  std::int64_t leaving(Rank at, bool plus) const { return plus ? at : nodes + at; }
};

/// Each node joined to every other: the links by the node that they leave, then by the other.
struct Complete {
  Rank nodes;

  std::int64_t links() const { return std::int64_t{nodes} * (nodes - 1); }
  LinkEnds ends(std::int64_t link) const;
  int ports(Rank /*vertex*/) const { return nodes - 1; }
  std::int64_t link(Rank vertex, int port) const {
    return std::int64_t{vertex} * (nodes - 1) + port;
  }
  std::int64_t next(Rank at, Rank to, bool& /*up*/) const {
    return link(at, to < at ? to : to - 1);
  }
  std::optional<int> diameter() const { return nodes > 1 ? 1 : 0; }
  std::shared_ptr<const CayleyStructure> cayley() const;
  friend bool operator==(const Complete&, const Complete&) = default;
};

/// Balanced and binary, its leaves are the nodes: of the cable above a vertex, link `vertex` goes
/// up, and link `cables` + `vertex` goes down.
class Tree {
 public:
  explicit Tree(Rank leaves);

  Rank vertices() const { return 2 * leaves_ - 1; }
  std::int64_t links() const { return 2 * std::int64_t{cables()}; }
  LinkEnds ends(std::int64_t link) const;
  int ports(Rank vertex) const;
  std::int64_t link(Rank vertex, int port) const;
  std::int64_t next(Rank at, Rank to, bool& up) const;
  bool goes_up(std::int64_t link) const { return link < cables(); }
  std::optional<int> diameter() const;
  std::shared_ptr<const CayleyStructure> cayley() const { return nullptr; }
  friend bool operator==(const Tree& a, const Tree& b) { return a.leaves_ == b.leaves_; }

 private:
  struct Table;
  Rank cables() const { return 2 * leaves_ - 2; }
  Rank leaves_;
  std::shared_ptr<const Table> table_;
};

/// Any other: its links by the vertex that they leave, then by the other.
class Arbitrary {
 public:
  Arbitrary(Rank nodes, const std::vector<std::pair<Rank, Rank>>& edges, std::string name,
            std::string note, std::shared_ptr<const CayleyStructure> group);

  const std::string& name() const;
  const std::string& note() const;
  std::int64_t links() const;
  LinkEnds ends(std::int64_t link) const;
  int ports(Rank vertex) const;
  std::int64_t link(Rank vertex, int port) const;
  std::int64_t next(Rank at, Rank to, bool& up) const;
  bool routable() const;
  void require_routable() const;
  std::int64_t routing_table_bytes() const;
  bool goes_up(std::int64_t link) const;
  const GraphDistances* distances() const;
  std::optional<int> diameter() const;
  std::shared_ptr<const CayleyStructure> cayley() const;
  friend bool operator==(const Arbitrary& a, const Arbitrary& b);

 private:
  struct Table;
  Rank nodes_;
  std::shared_ptr<const Table> table_;
};

}  // namespace shapes
}  // namespace wormcube
