// Graphs of ranks.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/graphs.hpp"

#include "wormcube/apps/mpi/engine/base/error.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace wormcube::mpi {

RankGraph::RankGraph(std::span<const int> index, const int* edges)
    : index_(index.begin(), index.end()) {
  int before = 0;
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (index[i] < before) {
      throw Failure(MPI_ERR_ARG, fmt::format("index {} is {}, which is less than the {} before it",
                                             i, index[i], before));
    }
    before = index[i];
  }
  edges_.assign(edges, edges + before);
  for (const int to : edges_) {
    if (to < 0 || to >= nodes()) {
      throw Failure(MPI_ERR_ARG,
                    fmt::format("edge to {} is out of range for {} nodes", to, nodes()));
    }
  }
}

std::span<const int> RankGraph::neighbours(int node) const {
  const int first = node == 0 ? 0 : index_[static_cast<std::size_t>(node) - 1];
  const int last = index_[static_cast<std::size_t>(node)];
  return std::span(edges_).subspan(static_cast<std::size_t>(first),
                                   static_cast<std::size_t>(last - first));
}

void DistributedEdges::add(Rank contributor, std::span<const Edge> edges) {
  const std::lock_guard lock(mutex_);
  for (const Edge& edge : edges) {
    ends_[edge.source].out.push_back({contributor, edge.destination, edge.weight});
    ends_[edge.destination].in.push_back({contributor, edge.source, edge.weight});
  }
}

Neighbours::List DistributedEdges::in_order(std::vector<Reported> all) {
  std::ranges::stable_sort(all, {}, &Reported::contributor);
  Neighbours::List list;
  for (const Reported& each : all) {
    list.ranks.push_back(each.rank);
    list.weights.push_back(each.weight);
  }
  return list;
}

Neighbours DistributedEdges::take(Rank rank) {
  Ends ends;
  {
    const std::lock_guard lock(mutex_);
    if (const auto place = ends_.find(rank); place != ends_.end()) {
      ends = std::move(place->second);
      ends_.erase(place);
    }
  }
  return {in_order(std::move(ends.in)), in_order(std::move(ends.out)), false};
}

}  // namespace wormcube::mpi
