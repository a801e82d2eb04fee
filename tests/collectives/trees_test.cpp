// Trees: edges and steps worked out by hand, preserved orders, and figures from the sources.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/trees.hpp"

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/check.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace wormcube;
using Catch::Matchers::Contains;

namespace {

using Edge = std::tuple<Rank, Rank, Rank>;  // parent, child, step of the first segment

std::set<Edge> edges_of(const TreeSchedule& schedule, int tree = 0) {
  std::set<Edge> edges;
  for (std::size_t v = 0; v < schedule.edges.size(); ++v) {
    for (const TreeSchedule::Edge& edge : schedule.edges[v]) {
      if (edge.to_child && edge.tree == tree) {
        edges.insert({static_cast<Rank>(v), edge.peer, edge.first});
      }
    }
  }
  return edges;
}

CheckResult checked_tree(Operation operation, const std::string& algorithm, const char* network,
                         Arguments arguments = {}) {
  if (operation->reduces) arguments.reduction = find_reduction("sum", "int64");
  const Topology topology = Topology::parse(network);
  return check_collective(parse_collective(operation, algorithm, arguments), topology, {});
}

}  // namespace

TEST_CASE("trees have the edges and steps of their rules", "[collectives]") {
  CHECK(
      edges_of(*tree_schedule(TreeShape::k_nomial, 3, 9, 0)) ==
      std::set<Edge>{
          {0, 6, 0}, {0, 3, 1}, {0, 2, 2}, {0, 1, 3}, {6, 8, 1}, {6, 7, 2}, {3, 5, 2}, {3, 4, 3}});
  CHECK(edges_of(*tree_schedule(TreeShape::chain, 2, 4, 0)) ==
        std::set<Edge>{{0, 1, 0}, {1, 2, 1}, {2, 3, 2}});
  CHECK(edges_of(*tree_schedule(TreeShape::k_ary, 2, 5, 0)) ==
        std::set<Edge>{{0, 1, 0}, {0, 2, 1}, {1, 3, 1}, {1, 4, 2}});
  // 6 nodes: 0>4 | 0>5', 4>2 | 2>1, 4>5, 5>3' | 2>3, 3>4', 5>1' | 3>2'
  const auto two = double_tree_schedule(6, false);
  CHECK(edges_of(*two, 0) == std::set<Edge>{{0, 4, 0}, {4, 2, 1}, {2, 1, 2}, {4, 5, 2}, {2, 3, 3}});
  CHECK(edges_of(*two, 1) == std::set<Edge>{{0, 5, 1}, {5, 3, 2}, {3, 4, 3}, {5, 1, 3}, {3, 2, 4}});
  CHECK(two->steps(1) == 5);
  CHECK(tree_schedule(TreeShape::chain, 2, 1, 0)->steps(7) == 0);
}

TEST_CASE("64 nodes are reached in the steps of each tree", "[collectives]") {
  const auto [shape, radix, steps] =
      GENERATE(std::tuple(TreeShape::chain, 2, 63), std::tuple(TreeShape::k_ary, 2, 10),
               std::tuple(TreeShape::k_ary, 4, 10), std::tuple(TreeShape::k_nomial, 2, 6),
               std::tuple(TreeShape::k_nomial, 4, 9), std::tuple(TreeShape::in_order, 2, 10));
  const Rank root = shape == TreeShape::in_order ? 32 : 0;
  CHECK(tree_schedule(shape, radix, 64, root)->steps(1) == steps);
}

TEST_CASE("two trees keep both ports of every node busy with one message each", "[collectives]") {
  for (Rank p = 2; p <= 256; ++p) {
    for (const bool roots_differ : {false, true}) {
      CAPTURE(p, roots_differ);
      const auto schedule = double_tree_schedule(p, roots_differ);
      bool alternate = true;
      int with_children_in_both = 0;
      for (const auto& edges : schedule->edges) {
        std::set<std::pair<bool, Rank>> seen;  // direction, colour
        std::set<int> trees;
        for (const TreeSchedule::Edge& edge : edges) {
          alternate = alternate && seen.insert({edge.to_child, edge.first % 2}).second;
          if (edge.to_child) trees.insert(edge.tree);
        }
        with_children_in_both += trees.size() == 2 ? 1 : 0;
      }
      REQUIRE(alternate);
      REQUIRE(with_children_in_both <= 1);  // the root of both
      for (const int tree : {0, 1}) REQUIRE(std::ssize(edges_of(*schedule, tree)) == p - 1);
      Rank levels = 0;
      while ((Rank{1} << levels) < p) ++levels;
      if (!roots_differ) {
        const bool one_less = p > 2 && (p - 1) / 2 % 2 == 0;
        REQUIRE(schedule->steps(1) == 2 * levels - (one_less ? 1 : 0));
      }
    }
  }
}

TEST_CASE("a link carries as many messages of a tree as the source's figures say",
          "[collectives]") {
  struct Load {
    const char* tree;
    double line, mesh;
  };
  const auto [tree, line, mesh] =
      GENERATE(Load{"shape=in-order", 2, 2}, Load{"shape=k-ary", 17, 4},
               Load{"shape=k-nomial:radix=4", 1, 1}, Load{"shape=chain", 1, 1});
  const std::string name = fmt::format("pipelined-tree:{}:segments=8", tree);
  CHECK(checked_tree(operations::broadcast, name, "line:64").report.link_load_max == line);
  CHECK(checked_tree(operations::broadcast, name, "mesh:8x8").report.link_load_max == mesh);
}

TEST_CASE("double trees share no link on complete networks", "[collectives]") {
  for (const Operation operation :
       {operations::broadcast, operations::reduce, operations::allreduce}) {
    const CheckResult result = checked_tree(operation, "double-tree:segments=3", "complete:13");
    CHECK(result.passed());
    CHECK(result.report.link_load_max == 1);
  }
  for (const char* const network : {"hypercube:3", "hypercube:6", "ghc:3x3", "ghc:4x3"}) {
    CAPTURE(network);
    CHECK(checked_tree(operations::allreduce, "double-tree:segments=3:order=ring", network)
              .report.link_load_max == 1);
  }
}

TEST_CASE("trees that do not keep the order of ranks refuse operators that do not commute",
          "[collectives]") {
  Arguments arguments;
  arguments.reduction = interval_reduction();
  const Topology eight = Topology::parse("ring:8"), nine = Topology::parse("ring:9");
  const auto refused = [&](Operation operation, const char* algorithm, const Topology& topology,
                           Rank root = 0) {
    arguments.root = root;
    return refusal(parse_collective(operation, algorithm, arguments), topology).has_value();
  };
  CHECK_FALSE(refused(operations::reduce, "pipelined-tree:shape=in-order", eight, 5));
  CHECK_FALSE(refused(operations::reduce, "pipelined-tree:order=rank", eight));
  CHECK_FALSE(refused(operations::allreduce, "pipelined-tree:shape=k-nomial:order=rank", eight));
  CHECK_FALSE(refused(operations::allreduce, "double-tree", eight));
  CHECK_FALSE(refused(operations::reduce, "double-tree", nine));
  CHECK(refused(operations::reduce, "pipelined-tree", eight));
  CHECK(refused(operations::reduce, "pipelined-tree:order=rank", eight, 1));
  CHECK(refused(operations::reduce, "pipelined-tree:shape=k-ary:order=rank", eight));
  CHECK(refused(operations::allreduce, "double-tree", nine));
  CHECK(refused(operations::reduce, "double-tree", eight));
  CHECK(refused(operations::reduce, "double-tree", nine, 3));
}

TEST_CASE("orders that are said to be kept are: proved with intervals of ranks", "[collectives]") {
  Arguments arguments;
  arguments.reduction = interval_reduction();
  for (const auto& [operation, algorithm] :
       {std::pair(operations::reduce, "pipelined-tree:shape=in-order:segments=3"),
        std::pair(operations::allreduce, "pipelined-tree:shape=in-order:segments=3"),
        std::pair(operations::reduce, "pipelined-tree:order=rank:segments=2"),
        std::pair(operations::allreduce, "pipelined-tree:shape=k-nomial:radix=3:order=rank"),
        std::pair(operations::allreduce, "double-tree:segments=2")}) {
    CAPTURE(algorithm);
    for (const char* const network : {"ring:2", "ring:8", "mesh:2x5", "hypercube:4"}) {
      const CheckResult result = check_collective(parse_collective(operation, algorithm, arguments),
                                                  Topology::parse(network), {});
      CHECK(result.delivered == true);
    }
  }
}
