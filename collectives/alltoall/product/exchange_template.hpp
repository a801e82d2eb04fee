// A total exchange in one small graph, message by message: the building block of total exchanges on
// product networks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/cost.hpp"
#include "wormcube/runtime/topology/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace wormcube {

/// A graph as lists of neighbours, ascending. Equal graphs compare equal, whatever their shape is
/// called: a ring of 2, a line of 2 and a complete graph of 2 are one.
struct Adjacency {
  std::vector<std::vector<Rank>> neighbours;

  /// \param graph  every vertex a node (no tree: its inner vertices only switch)
  static Adjacency of(const Graph& graph);
  Rank nodes() const { return static_cast<Rank>(neighbours.size()); }
  bool adjacent(Rank u, Rank v) const;
  friend bool operator==(const Adjacency&, const Adjacency&) = default;
};

/// Hops between all pairs of vertices of a connected graph.
class Distances {
 public:
  explicit Distances(const Adjacency& graph);
  int operator()(Rank u, Rank v) const { return hops_[static_cast<std::size_t>(u) * nodes_ + v]; }
  Rank nodes() const { return nodes_; }
  /// s(v): the sum of distances from v to all others.
  std::int64_t status(Rank v) const;
  /// The sum of all statuses: n AS(G).
  std::int64_t total() const;

 private:
  Rank nodes_;
  std::vector<std::int16_t> hops_;
};

/// One message of one step: the block from `source` for `destination` goes from a node to its
/// neighbour.
struct BlockMove {
  Rank from, to, source, destination;
  Rank copy = 0;  ///< which of several exchanges made at once
  friend bool operator==(const BlockMove&, const BlockMove&) = default;
};

/// Total exchanges (`copies` of them at once) in one graph. A block that is at a node when a step
/// starts may move to one neighbour in it. There is no step without a transfer.
class ExchangeTemplate {
 public:
  /// \param steps  the transfers of each step; steps without any are left out
  ExchangeTemplate(Rank nodes, Rank copies, const std::vector<std::vector<BlockMove>>& steps);

  Rank nodes() const { return nodes_; }
  Rank copies() const { return copies_; }
  std::size_t steps() const { return ends_.size() - 1; }
  std::span<const BlockMove> step(std::size_t t) const {
    return std::span(transfers_).subspan(ends_[t], ends_[t + 1] - ends_[t]);
  }
  std::span<const BlockMove> transfers() const { return transfers_; }

  /// The transfers of step t that leave, and that reach, this node: indices into transfers().
  std::span<const std::uint32_t> sent_by(Rank node, std::size_t t) const {
    return sent_.of(node, t, steps());
  }
  std::span<const std::uint32_t> received_by(Rank node, std::size_t t) const {
    return received_.of(node, t, steps());
  }

 private:
  struct Index {
    std::vector<std::uint32_t> ends;   // by node, then step
    std::vector<std::uint32_t> items;  // transfers in that order
    std::span<const std::uint32_t> of(Rank node, std::size_t t, std::size_t steps) const {
      const std::size_t at = static_cast<std::size_t>(node) * steps + t;
      return std::span(items).subspan(ends[at], ends[at + 1] - ends[at]);
    }
  };
  Index indexed(Rank BlockMove::*end) const;

  Rank nodes_, copies_;
  std::vector<BlockMove> transfers_;
  std::vector<std::uint32_t> ends_;
  Index sent_, received_;
};

/// Describes what is wrong with a template as a total exchange in this graph; empty if nothing is.
/// The rules: every transfer is between neighbours, of a block that is there when the step starts,
/// moved once in the step; ports are kept (one: each node sends one block and receives one; all:
/// one block per directed link); every block ends at its destination, and only it.
std::string fault(const ExchangeTemplate& exchange, const Adjacency& graph, Ports ports);

}  // namespace wormcube
