// The neighbours of all nodes of a network, and the next hops of shortest paths.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/needs.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace wormcube {

/// Of a network whose vertices are all nodes, of at most `most_ports` ports. Computed once for all
/// nodes of a process: it takes a breadth-first search from each node, and two bytes for each pair.
class ShortestPaths {
 public:
  static constexpr int most_ports = 64;
  explicit ShortestPaths(const Topology& topology);
  static std::shared_ptr<const ShortestPaths> of(const Topology& topology);

  Rank nodes() const { return nodes_; }
  int diameter() const { return diameter_; }
  int distance(Rank u, Rank v) const { return distances_[at(u, v)]; }
  /// Ascending.
  const std::vector<Rank>& neighbours(Rank u) const {
    return neighbours_[static_cast<std::size_t>(u)];
  }
  /// The number of u's neighbour w.
  std::size_t lane(Rank u, Rank w) const;
  /// Bit i: neighbour i of u is nearer to v.
  std::uint64_t next_hops(Rank u, Rank v) const;

 private:
  std::size_t at(Rank u, Rank v) const {
    return static_cast<std::size_t>(u) * static_cast<std::size_t>(nodes_) +
           static_cast<std::size_t>(v);
  }

  Rank nodes_;
  int diameter_ = 0;
  std::vector<std::vector<Rank>> neighbours_;
  std::vector<std::uint16_t> distances_;
};

/// A colour for each link, as few as there are ports: those that leave a node differ, and so do
/// those that enter it. So the links of one colour are what nodes of one port can use at once.
///
/// Source  D. Koenig, 1916: the edges of a bipartite graph need as many colours as its largest
///         degree.
class LinkColours {
 public:
  explicit LinkColours(const ShortestPaths& paths);

  int count() const { return count_; }
  int of(Rank u, std::size_t lane) const { return of_[static_cast<std::size_t>(u)][lane]; }

 private:
  int count_ = 0;
  std::vector<std::vector<int>> of_;  // by node and neighbour
};

namespace needs {
/// What ShortestPaths needs.
Need only_nodes_of_few_ports();
}  // namespace needs

}  // namespace wormcube
