// Broadcast and reduce along as many trees at once as a node has ports.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/torus_handover.hpp"
#include "wormcube/collectives/kit/tree_algorithms.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// Tree (k, way): in dimension k and its way lie the root's child and all links into nodes with the
/// root's coordinate k; other nodes are reached along dimension k, then k + 1, .., in the same way.
class RotatedTrees {
 public:
  RotatedTrees(const Topology& topology, Rank root)
      : topology_(topology), root_(root), wide_(wide_dimensions(topology)) {}

  /// The ways of a dimension: of a ring up and down, of a complete graph its displacements.
  static Rank ways(const Graph& graph) {
    if (graph.is(Shape::line)) return 1;
    return graph.wraps() ? 2 : graph.nodes() - 1;
  }
  static Rank count(const Topology& topology) {
    Rank trees = 0;
    for (const int d : wide_dimensions(topology)) trees += ways(topology.factor(d));
    return std::max(1, trees);
  }

  Rank parent(Rank v, std::size_t k, Rank way) const {
    const std::size_t dimensions = wide_.size();
    if (is_at_root(v, wide_[k])) return with(v, wide_[k], last_on(wide_[k], way));
    for (std::size_t i = 1;; ++i) {
      const int d = wide_[(k + dimensions - i) % dimensions];
      if (!is_at_root(v, d)) return with(v, d, before(topology_.coordinate(v, d), d, way));
    }
  }

 private:
  Rank with(Rank v, int d, Rank coordinate) const { return topology_.with(v, d, coordinate); }
  Rank root_in(int d) const { return topology_.coordinate(root_, d); }
  bool is_at_root(Rank v, int d) const { return topology_.coordinate(v, d) == root_in(d); }
  /// The coordinate from which the nodes with the root's are reached.
  Rank last_on(int d, Rank way) const {
    const Graph& graph = topology_.factor(d);
    const Rank n = graph.nodes(), root = root_in(d);
    if (graph.is(Shape::line)) return root + 1 < n ? root + 1 : root - 1;
    return graph.wraps() ? mod(way == 0 ? root - 1 : root + 1, n) : mod(root + way + 1, n);
  }
  /// The coordinate before x on a way from the root: outwards on a line; round a ring; the first
  /// neighbour of a complete graph before all others.
  Rank before(Rank x, int d, Rank way) const {
    const Graph& graph = topology_.factor(d);
    const Rank n = graph.nodes(), root = root_in(d);
    if (graph.is(Shape::line)) return x > root ? x - 1 : x + 1;
    if (graph.wraps()) return mod(way == 0 ? x - 1 : x + 1, n);
    const Rank first = mod(root + way + 1, n);
    return x == first ? root : first;
  }

  const Topology& topology_;
  Rank root_;
  std::vector<int> wide_;
};

TreeSchedule make_rotated_trees(const Topology& topology, Rank root) {
  const Rank p = topology.nodes();
  TreeSchedule schedule;
  schedule.edges.resize(static_cast<std::size_t>(p));
  schedule.trees = RotatedTrees::count(topology);
  const RotatedTrees trees(topology, root);
  const std::vector<int> wide = wide_dimensions(topology);
  int tree = 0;
  for (std::size_t k = 0; k < wide.size(); ++k) {
    for (Rank way = 0; way < RotatedTrees::ways(topology.factor(wide[k])); ++way, ++tree) {
      std::vector<Rank> depth(static_cast<std::size_t>(p), -1), path;
      depth[static_cast<std::size_t>(root)] = 0;
      for (Rank v = 0; v < p; ++v) {
        path.clear();
        Rank at = v;
        for (; depth[static_cast<std::size_t>(at)] < 0; at = trees.parent(at, k, way)) {
          path.push_back(at);
        }
        for (auto child = path.rbegin(); child != path.rend(); at = *child++) {
          const Rank first = depth[static_cast<std::size_t>(at)];
          depth[static_cast<std::size_t>(*child)] = first + 1;
          schedule.edges[static_cast<std::size_t>(at)].push_back({*child, first, tree, true});
          schedule.edges[static_cast<std::size_t>(*child)].push_back({at, first, tree, false});
          schedule.last = std::max(schedule.last, first);
        }
      }
    }
  }
  return schedule;
}

Need one_kind_of_dimension() {
  return {
      "the dimensions must all be lines, all be rings of 3 nodes or more, or all be complete "
      "graphs of the same size",
      [](const Topology& topology) -> std::optional<std::string> {
        const std::vector<int> wide = wide_dimensions(topology);
        for (const int d : wide) {
          const Graph &graph = topology.factor(d), &first = topology.factor(wide.front());
          const bool complete = graph.shape() == Shape::complete;
          const bool known = graph.is(Shape::line) || graph.wraps() || complete;
          const bool alike = graph.is(Shape::line) == first.is(Shape::line) &&
                             graph.wraps() == first.wraps() &&
                             (!complete || graph.nodes() == first.nodes());
          if (!known || !alike) {
            return fmt::format("{} has {}{}", topology.name(), alike ? "" : first.name() + " and ",
                               graph.name());
          }
        }
        return std::nullopt;
      }};
}

/// Broadcast, and backwards reduce, along W trees without a common link, each of which carries one
/// W-th of the message in s segments. Tree (k, way) reaches the nodes beside the root in dimension
/// k first, and the nodes with the root's coordinate k last.
///
/// Two trees of one way enter a node in different dimensions: tree k in dimension k if the node has
/// the root's coordinate there, else in the cyclically next dimension before k where it has not.
///
/// Network  meshes, tori with sides of 3 or more, generalized hypercubes of one side, hypercubes;
///          all-port. Reductions must commute.
/// Cost     H + s - 1 start-ups of m/(W s), which tends to the bound m/W. W = 2D on tori, D on
///          meshes, D (n - 1) on complete graphs. H = sum(n_d - 1) + 1 on tori (one ring: n - 1),
///          2D on complete graphs (one: 2), d + 1 on hypercubes; on meshes max(E, E - min e_d + 2),
///          where e_d is the root's distance to the farther end, E their sum (one line: e).
/// Links    each carries one message in a step.
/// Source   ours; on hypercubes as in S. L. Johnsson, C.-T. Ho, Optimum Broadcasting and
///          Personalized Communication in Hypercubes, IEEE TC 38(9), 1989.
struct RotatedTreesRule {
  static TreeSchedule make(const Topology& topology, Rank root) {
    return make_rotated_trees(topology, root);
  }
  static Rank count(const Setting& setting) { return RotatedTrees::count(setting.topology); }
};

Algorithm rotated_trees() {
  return {
      .operation = operations::broadcast,
      .name = "rotated-trees",
      .summary =
          "segments travel along edge-disjoint trees, one for each port; dimensions of one kind",
      .source = "ours; hypercubes: Johnsson, Ho, IEEE TC 38(9), 1989",
      .needs = {one_kind_of_dimension()},
      .instead = {"ring-all-port", "pipelined-tree", "double-tree"},
  };
}

}  // namespace

WORMCUBE_ALGORITHMS(rotated_trees){
    broadcast_along<RotatedTreesRule>(rotated_trees()),
    reduce_along<RotatedTreesRule>(rotated_trees()),
};

}  // namespace wormcube
