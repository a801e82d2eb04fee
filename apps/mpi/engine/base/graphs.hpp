// Graphs of ranks: one known to all ranks, or each rank's neighbors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace wormcube::mpi {

/// A graph whose edges are known to all ranks. Immutable.
class RankGraph {
 public:
  /// \param index  for node i, the number of edges of nodes 0 to i. Throws Failure: MPI_ERR_ARG if
  /// the index decreases or an edge leads to no node.
  RankGraph(std::span<const int> index, const int* edges);

  int nodes() const { return static_cast<int>(index_.size()); }
  const std::vector<int>& index() const { return index_; }
  const std::vector<int>& edges() const { return edges_; }
  std::span<const int> neighbours(int node) const;

 private:
  std::vector<int> index_, edges_;
};

/// A rank's neighbors in a distributed graph.
struct Neighbours {
  struct List {
    std::vector<int> ranks, weights;  ///< equal in number
  };
  List in, out;
  bool weighted = false;  ///< else all weights are 1
};

/// Edges on their way from the ranks that contribute them to the ranks at their ends.
///
/// Threads  any
class DistributedEdges {
 public:
  struct Edge {
    int source, destination, weight;
  };
  void add(Rank contributor, std::span<const Edge> edges);
  /// A rank's neighbors, once all have contributed, in the order of the contributors.
  Neighbours take(Rank rank);

 private:
  struct Reported {
    Rank contributor;
    int rank, weight;
  };
  struct Ends {
    std::vector<Reported> in, out;
  };
  static Neighbours::List in_order(std::vector<Reported> all);

  std::mutex mutex_;
  std::map<Rank, Ends> ends_;
};

}  // namespace wormcube::mpi
