// Broadcast and reduce along as many trees without a common link as a network has.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/shortest_paths.hpp"
#include "wormcube/collectives/kit/tree_algorithms.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace wormcube {

namespace {

std::size_t at(Rank r) { return static_cast<std::size_t>(r); }

/// The directed links of a network that no tree has yet, and paths over them.
class FreeLinks {
 public:
  explicit FreeLinks(const ShortestPaths& paths) : paths_(paths), from_(at(paths.nodes())) {
    for (Rank u = 0; u < paths.nodes(); ++u)
      free_.emplace_back(paths.neighbours(u).size(), State::free);
  }

  bool is_free(Rank u, std::size_t lane) const { return free_[at(u)][lane] == State::free; }
  void take(Rank u, std::size_t lane) { free_[at(u)][lane] = State::taken; }
  void give_back(Rank u, std::size_t lane) { free_[at(u)][lane] = State::free; }

  /// Whether `wanted` paths over free links lead from one node to another, no link in two of them.
  bool has_paths(Rank from, Rank to, int wanted) {
    int found = 0;
    while (found < wanted && find_path(from, to)) ++found;
    for (auto& links : free_) {
      for (State& link : links) link = link == State::used ? State::free : link;
    }
    return found == wanted;
  }

 private:
  enum class State : std::uint8_t { free, taken, used };

  // Over free links forwards, or back over those of the paths so far, which then lose them.
  bool find_path(Rank from, Rank to) {
    constexpr Rank unknown = -1;
    std::ranges::fill(from_, Step{unknown, 0, true});
    from_[at(from)].node = from;
    std::vector<Rank> queue{from};
    for (std::size_t i = 0; i < queue.size() && from_[at(to)].node == unknown; ++i) {
      const Rank u = queue[i];
      for (std::size_t lane = 0; lane < paths_.neighbours(u).size(); ++lane) {
        const Rank w = paths_.neighbours(u)[lane];
        if (from_[at(w)].node != unknown) continue;
        const std::size_t back = paths_.lane(w, u);
        const bool forwards = is_free(u, lane);
        if (!forwards && free_[at(w)][back] != State::used) continue;
        from_[at(w)] = {u, forwards ? lane : back, forwards};
        queue.push_back(w);
      }
    }
    if (from_[at(to)].node == unknown) return false;
    for (Rank w = to; w != from; w = from_[at(w)].node) {
      const Step& step = from_[at(w)];
      (step.forwards ? free_[at(step.node)] : free_[at(w)])[step.lane] =
          step.forwards ? State::used : State::free;
    }
    return true;
  }

  struct Step {
    Rank node;
    std::size_t lane;
    bool forwards;
  };
  const ShortestPaths& paths_;
  std::vector<std::vector<State>> free_;  // by node and neighbour
  std::vector<Step> from_;                // by node: how the search came there
};

/// The most trees: the fewest links that separate a node from the root.
int trees_from(const ShortestPaths& paths, Rank root) {
  FreeLinks links(paths);
  int trees = static_cast<int>(paths.neighbours(root).size());
  for (Rank v = 0; v < paths.nodes(); ++v) {
    while (v != root && !links.has_paths(root, v, trees)) --trees;
  }
  return std::max(1, trees);
}

/// Tree by tree, breadth first: a link joins a tree if enough paths for the trees to come are left
/// to the node where it ends. All other nodes keep theirs.
TreeSchedule pack_trees(const Topology& topology, Rank root) {
  const auto paths = ShortestPaths::of(topology);
  const Rank p = paths->nodes();
  TreeSchedule schedule;
  schedule.edges.resize(at(p));
  schedule.trees = trees_from(*paths, root);
  FreeLinks links(*paths);
  for (int tree = 0; tree < schedule.trees; ++tree) {
    std::vector<Rank> depth(at(p), -1), queue{root};
    depth[at(root)] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const Rank u = queue[i], first = depth[at(u)];
      for (std::size_t lane = 0; lane < paths->neighbours(u).size(); ++lane) {
        const Rank w = paths->neighbours(u)[lane];
        if (depth[at(w)] >= 0 || !links.is_free(u, lane)) continue;
        links.take(u, lane);
        if (!links.has_paths(root, w, schedule.trees - tree - 1)) {
          links.give_back(u, lane);
          continue;
        }
        depth[at(w)] = first + 1;
        queue.push_back(w);
        schedule.edges[at(u)].push_back({w, first, tree, true});
        schedule.edges[at(w)].push_back({u, first, tree, false});
        schedule.last = std::max(schedule.last, first);
      }
    }
  }
  return schedule;
}

/// Broadcast, and backwards reduce, along spanning trees without a common link: as many as the
/// fewest links that separate the root from a node. Each carries a part of the message, in
/// segments.
///
/// Network  any whose vertices are all nodes; all-port. Reductions must commute.
/// Cost     h + s - 1 start-ups of m/(e s), for e trees of up to h links and s segments: it tends
///          to the bound m/e.
/// Links    each carries one message in a step.
/// Source   J. Edmonds, Edge-Disjoint Branchings, 1973; the construction: L. Lovasz, On Two Minimax
///          Theorems in Graph, J. Combinatorial Theory B 21, 1976.
struct PackedTrees {
  static TreeSchedule make(const Topology& topology, Rank root) {
    return pack_trees(topology, root);
  }
  static Rank count(const Setting& setting) {
    return AlongTrees<PackedTrees>::trees(setting.topology, setting.arguments.root)->trees;
  }
};

Algorithm tree_packing() {
  return {
      .operation = operations::broadcast,
      .name = "tree-packing",
      .summary =
          "segments travel along as many link-disjoint trees as there are; any network "
          "without switches",
      .source = "Edmonds 1973; construction: Lovasz, J. Combin. Theory B 21, 1976",
      .neighbours_only = true,
      .needs = {needs::only_nodes_of_few_ports(), needs::nodes_at_most(256)},
      .instead = {"pipelined-tree", "double-tree"},
  };
}

}  // namespace

WORMCUBE_ALGORITHMS(tree_packing){
    broadcast_along<PackedTrees>(tree_packing()),
    reduce_along<PackedTrees>(tree_packing()),
};

}  // namespace wormcube
