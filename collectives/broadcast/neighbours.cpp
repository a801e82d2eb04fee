// Broadcast by store and forward.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/runtime/node/views.hpp"

#include <algorithm>
#include <cstdlib>

namespace wormcube {

namespace {

/// How far the message goes from a place of a line or ring, and in which direction first.
struct Reach {
  int plus, minus;  // hops
  Reach(const Graph& line, Rank from)
      : plus(line.wraps() ? line.nodes() / 2 : line.nodes() - 1 - from),
        minus(line.nodes() - 1 - plus) {}
  int first_sign() const { return plus >= minus ? 1 : -1; }
  int steps() const { return std::max(std::max(plus, minus), std::min(plus, minus) + one_later()); }
  int of(int sign) const { return sign > 0 ? plus : minus; }

 private:
  int one_later() const { return std::min(plus, minus) > 0 ? 1 : 0; }
};

void along_line(Node& line, Span message, Rank root) {
  const Graph& graph = line.topology().factor(0);
  const Reach reach(graph, root);
  int here = graph.hops(root, line.rank());  // signed
  if (!graph.wraps()) here = line.rank() - root;
  const int sign = here < 0 ? -1 : 1;
  const auto late = [&](int way) { return way == reach.first_sign() ? 0 : 1; };
  // The message is k hops away, in one direction or the other, after step k + late.
  for (int t = 1; t <= reach.steps(); ++t) {
    const Move onward{0, sign}, back{0, -sign};
    if (here == 0) {
      const int way = t == 1 ? reach.first_sign() : -reach.first_sign();
      if (t <= 2 && reach.of(way) > 0) {
        line.step({send(Move{0, way}, message)});
      } else {
        line.step();
      }
    } else if (t == std::abs(here) + late(sign)) {
      line.step({receive(back, message)});
    } else if (t == std::abs(here) + 1 + late(sign) && std::abs(here) < reach.of(sign)) {
      line.step({send(onward, message)});
    } else {
      line.step();
    }
  }
}

/// Broadcast among nearest neighbours: the root's message ends on every node. Dimension by
/// dimension, from the last to the first, it goes in both directions along each line, to the
/// farther end first.
///
/// Network  lines, rings, meshes and tori of any sizes; one-port.
/// Cost     in each dimension, steps of the whole message: ceil(n/2) on a ring; n - 1 from the end
///          of a line, from inside as many as to the farther end (one more from the middle).
/// Links    every message takes one hop, on a link of its own.
void broadcast_neighbours(Node& node, const Call& call) {
  const Rank root = call.arguments.root;
  const Topology& topology = node.topology();
  for (int d = topology.dimensions() - 1; d >= 0; --d) {
    const Rank block = topology.stride(d) * topology.size(d), place = topology.coordinate(root, d);
    if (node.rank() / block == root / block) {
      GridView line = node.along(d);
      along_line(line, call.output.all(), place);
    } else {
      node.idle(Reach(topology.factor(d), place).steps());
    }
  }
}

}  // namespace

WORMCUBE_ALGORITHM(broadcast_neighbours){
    .operation = operations::broadcast,
    .name = "neighbours",
    .summary =
        "store and forward, in both directions, dimension by dimension; lines, rings, meshes, tori",
    .source = "Grama, Gupta, Karypis, Kumar, problem 4.13",
    .contention_free = true,
    .exactly_once = true,
    .neighbours_only = true,
    .needs = {needs::lines_and_rings()},
    .instead = {"mesh", "halving"},
    .predict = [](const Setting& setting) -> Prediction {
      const Topology& topology = setting.topology;
      double steps = 0;
      for (int d = 0; d < topology.dimensions(); ++d) {
        steps += Reach(topology.factor(d), topology.coordinate(setting.arguments.root, d)).steps();
      }
      return {.startups = steps,
              .transmission_blocks = steps,
              .rearranged_blocks = 0,
              .working_blocks = 0,
              .link_load = steps > 0 ? 1 : 0,
              .link_blocks = steps};
    },
    .program = broadcast_neighbours,
};

}  // namespace wormcube
