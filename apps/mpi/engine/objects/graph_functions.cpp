// MPI's functions on graphs.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/base/graphs.hpp"
#include "wormcube/apps/mpi/engine/collectives/between_groups.hpp"
#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/objects/objects.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include <fmt/core.h>

namespace wormcube::mpi {
namespace {

const RankGraph& graph_of(Call& call, MPI_Comm on) {
  const Communicator& communicator = call.communicator(on);
  if (communicator.graph) return *communicator.graph;
  throw Failure(MPI_ERR_TOPOLOGY, communicator.name + " has no graph topology");
}
const Neighbours& neighbours_of(Call& call, MPI_Comm on) {
  const Communicator& communicator = call.communicator(on);
  if (communicator.neighbours) return *communicator.neighbours;
  throw Failure(MPI_ERR_TOPOLOGY, communicator.name + " has no distributed graph topology");
}

RankGraph asked_graph(const Call& call, const Communicator& parent, int nodes, const int index[],
                      const int edges[]) {
  if (call.count(nodes, "nnodes") > static_cast<std::size_t>(parent.size())) {
    throw Failure(MPI_ERR_TOPOLOGY, fmt::format("the graph has {} nodes, but {} has {} ranks",
                                                nodes, parent.name, parent.size()));
  }
  return {{index, static_cast<std::size_t>(nodes)}, edges};
}

/// As much of a list as fits.
void copy_first(const Call& call, std::span<const int> from, int room, const char* name, int* to) {
  std::ranges::copy(from.first(std::min(from.size(), call.count(room, name))), to);
}

void need_rank(const Communicator& on, int rank, const char* name) {
  if (rank >= 0 && rank < on.size()) return;
  throw Failure(MPI_ERR_RANK, fmt::format("{} {} is out of range for {} ({} ranks)", name, rank,
                                          on.name, on.size()));
}
int checked_weight(int weight) {
  if (weight < 0) throw Failure(MPI_ERR_ARG, fmt::format("weight {} is negative", weight));
  return weight;
}

/// This rank's end of a communicator with the same ranks in the same order: rank is node.
Communicator& same_ranks(Call& call, Communicator& parent, MPI_Comm* made) {
  const std::uint64_t number = come_to(parent, {.function = call.function()});
  keep_together(call, parent);
  return make_end(
      call, parent.shared->child(number, 0, parent.shared->members(), "graph of " + parent.name),
      parent, made);
}

int graph_create(MPI_Comm on, int nodes, const int index[], const int edges[], int,
                 MPI_Comm* made) {
  WORMCUBE_MPI_CALL(MPI_Graph_create);
  return call([&] {
    call.result(made, "comm_graph");
    Communicator& parent = call.intracommunicator(on);
    auto graph = std::make_shared<const RankGraph>(asked_graph(call, parent, nodes, index, edges));
    const std::uint64_t number = come_to(parent, {.function = call.function(), .bytes = nodes});
    keep_together(call, parent);
    *made = MPI_COMM_NULL;
    if (parent.rank >= nodes) return;
    const std::vector<Rank>& all = parent.shared->members();
    Communicator& end = make_end(call,
                                 parent.shared->child(number, 0, {all.begin(), all.begin() + nodes},
                                                      "graph of " + parent.name),
                                 parent, made);
    end.graph = std::move(graph);
  });
}

int graph_map(MPI_Comm on, int nodes, const int index[], const int edges[], int* rank) {
  WORMCUBE_MPI_CALL(MPI_Graph_map);
  return call([&] {
    call.result(rank, "newrank");
    const Communicator& parent = call.intracommunicator(on);
    asked_graph(call, parent, nodes, index, edges);
    *rank = parent.rank < nodes ? parent.rank : MPI_UNDEFINED + 0;
  });
}

int graphdims_get(MPI_Comm on, int* nodes, int* edges) {
  WORMCUBE_MPI_CALL(MPI_Graphdims_get);
  return call([&] {
    call.result(nodes, "nnodes");
    call.result(edges, "nedges");
    const RankGraph& graph = graph_of(call, on);
    *nodes = graph.nodes();
    *edges = static_cast<int>(graph.edges().size());
  });
}

int graph_get(MPI_Comm on, int index_room, int edge_room, int index[], int edges[]) {
  WORMCUBE_MPI_CALL(MPI_Graph_get);
  return call([&] {
    const RankGraph& graph = graph_of(call, on);
    copy_first(call, graph.index(), index_room, "maxindex", index);
    copy_first(call, graph.edges(), edge_room, "maxedges", edges);
  });
}

int graph_neighbors_count(MPI_Comm on, int rank, int* count) {
  WORMCUBE_MPI_CALL(MPI_Graph_neighbors_count);
  return call([&] {
    call.result(count, "nneighbors");
    const RankGraph& graph = graph_of(call, on);
    need_rank(call.communicator(on), rank, "rank");
    *count = static_cast<int>(graph.neighbours(rank).size());
  });
}

int graph_neighbors(MPI_Comm on, int rank, int room, int neighbours[]) {
  WORMCUBE_MPI_CALL(MPI_Graph_neighbors);
  return call([&] {
    const RankGraph& graph = graph_of(call, on);
    need_rank(call.communicator(on), rank, "rank");
    copy_first(call, graph.neighbours(rank), room, "maxneighbors", neighbours);
  });
}

Neighbours::List listed_neighbours(const Call& call, const Communicator& parent, int count,
                                   const int ranks[], const int weights[], const char* name) {
  Neighbours::List list;
  for (std::size_t i = 0; i < call.count(count, name); ++i) {
    need_rank(parent, ranks[i], "neighbour");
    list.ranks.push_back(ranks[i]);
    list.weights.push_back(weights == MPI_UNWEIGHTED ? 1 : checked_weight(weights[i]));
  }
  return list;
}

int dist_graph_create_adjacent(MPI_Comm on, int in_count, const int sources[],
                               const int source_weights[], int out_count, const int destinations[],
                               const int destination_weights[], MPI_Info, int, MPI_Comm* made) {
  WORMCUBE_MPI_CALL(MPI_Dist_graph_create_adjacent);
  return call([&] {
    Communicator& parent = call.intracommunicator(on);
    auto mine = std::make_shared<Neighbours>();
    mine->in = listed_neighbours(call, parent, in_count, sources, source_weights, "indegree");
    mine->out =
        listed_neighbours(call, parent, out_count, destinations, destination_weights, "outdegree");
    mine->weighted = source_weights != MPI_UNWEIGHTED && destination_weights != MPI_UNWEIGHTED;
    same_ranks(call, parent, made).neighbours = std::move(mine);
  });
}

// Each rank may contribute edges between any ranks; it reads its own edges when all have
// contributed.
int dist_graph_create(MPI_Comm on, int count, const int sources[], const int degrees[],
                      const int destinations[], const int weights[], MPI_Info, int,
                      MPI_Comm* made) {
  WORMCUBE_MPI_CALL(MPI_Dist_graph_create);
  return call([&] {
    Communicator& parent = call.intracommunicator(on);
    std::vector<DistributedEdges::Edge> edges;
    for (std::size_t i = 0; i < call.count(count, "n"); ++i) {
      need_rank(parent, sources[i], "source");
      const std::size_t degree = call.count(degrees[i], "a degree");
      for (std::size_t k = 0; k < degree; ++k) {
        const std::size_t at = edges.size();
        need_rank(parent, destinations[at], "destination");
        edges.push_back({sources[i], destinations[at],
                         weights == MPI_UNWEIGHTED ? 1 : checked_weight(weights[at])});
      }
    }
    Communicator& end = same_ranks(call, parent, made);
    end.shared->edges.add(end.rank, edges);
    come_to(end, {.function = call.function()});
    wait_for_all(call, end);
    auto mine = std::make_shared<Neighbours>(end.shared->edges.take(end.rank));
    mine->weighted = weights != MPI_UNWEIGHTED;
    end.neighbours = std::move(mine);
  });
}

int dist_graph_neighbors_count(MPI_Comm on, int* in_count, int* out_count, int* weighted) {
  WORMCUBE_MPI_CALL(MPI_Dist_graph_neighbors_count);
  return call([&] {
    call.result(in_count, "indegree");
    call.result(out_count, "outdegree");
    call.result(weighted, "weighted");
    const Neighbours& all = neighbours_of(call, on);
    *in_count = static_cast<int>(all.in.ranks.size());
    *out_count = static_cast<int>(all.out.ranks.size());
    *weighted = all.weighted ? 1 : 0;
  });
}

int dist_graph_neighbors(MPI_Comm on, int in_room, int sources[], int source_weights[],
                         int out_room, int destinations[], int destination_weights[]) {
  WORMCUBE_MPI_CALL(MPI_Dist_graph_neighbors);
  return call([&] {
    const Neighbours& all = neighbours_of(call, on);
    const auto store = [&](const Neighbours::List& list, int room, const char* name, int* ranks,
                           int* weights) {
      copy_first(call, list.ranks, room, name, ranks);
      if (all.weighted && weights != MPI_UNWEIGHTED)
        copy_first(call, list.weights, room, name, weights);
    };
    store(all.in, in_room, "maxindegree", sources, source_weights);
    store(all.out, out_room, "maxoutdegree", destinations, destination_weights);
  });
}

}  // namespace

void add_graph_functions(WormcubeMpiFunctions& table) {
  table.MPI_Graph_create = graph_create;
  table.MPI_Graph_map = graph_map;
  table.MPI_Graphdims_get = graphdims_get;
  table.MPI_Graph_get = graph_get;
  table.MPI_Graph_neighbors_count = graph_neighbors_count;
  table.MPI_Graph_neighbors = graph_neighbors;
  table.MPI_Dist_graph_create_adjacent = dist_graph_create_adjacent;
  table.MPI_Dist_graph_create = dist_graph_create;
  table.MPI_Dist_graph_neighbors_count = dist_graph_neighbors_count;
  table.MPI_Dist_graph_neighbors = dist_graph_neighbors;
}

}  // namespace wormcube::mpi
