// Graphs of ranks: one that all know, or each rank's neighbours.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace wormcube::mpi {

/// A graph of which all ranks know all edges. Immutable.
class RankGraph {
 public:
  /// \param index  of node i: how many edges nodes 0 to i have. Throws Failure: MPI_ERR_ARG for an
  /// index that decreases, an edge to what is no node.
  RankGraph(std::span<const int> index, const int* edges);

  int nodes() const { return static_cast<int>(index_.size()); }
  const std::vector<int>& index() const { return index_; }
  const std::vector<int>& edges() const { return edges_; }
  std::span<const int> neighbours(int node) const;

 private:
  std::vector<int> index_, edges_;
};

/// A rank's neighbours in a distributed graph.
struct Neighbours {
  struct List {
    std::vector<int> ranks, weights;  ///< as many weights
  };
  List in, out;
  bool weighted = false;  ///< else all weights are 1
};

/// Edges on their way from ranks that know of them to the ranks at their ends.
///
/// Threads  any
class DistributedEdges {
 public:
  struct Edge {
    int source, destination, weight;
  };
  void add(Rank reporter, std::span<const Edge> edges);
  /// A rank's own edges, once, when all ranks have added theirs: in the order of the reporters.
  Neighbours take(Rank rank);

 private:
  struct Reported {
    Rank reporter;
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
