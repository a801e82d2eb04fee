// Broadcast by interval halving: recursive doubling for any number of nodes and any root.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/broadcast/programs.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

#include <algorithm>
#include <bit>
#include <optional>

namespace wormcube {

/// Broadcast: the root's message ends on every node.
///
/// In each interval of ranks one node has the message. It sends it to the first node of the half
/// that it is not in; then both halves continue on their own.
///
/// Network  any, of any p; one-port.
/// Cost     ceil(log2 p) steps of the whole message: (ts + tw m) ceil(log2 p).
/// Links    free of contention on one line, ring, tree or complete network, and on products of
///          these with powers of two for sizes (including hypercubes): the halves of an interval
///          continue over separate links. On a ring they do because only the first message may be
///          as long as half of it.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.1.1, Eq. 4.1; any p: problem 4.1.
void broadcast_halving(Node& node, Span message, Rank root) {
  const Rank r = node.rank();

  // Invariant: of the nodes low .. high-1, which include r, only `holder` has the message.
  Rank low = 0, high = node.size(), holder = root;
  for (int t = 0; t < log2_ceiling(node.size()); ++t) {
    if (high - low == 1) {
      node.step();
      continue;
    }
    const Rank middle = low + (high - low + 1) / 2;
    const bool from_lower = holder < middle, in_lower = r < middle;
    const Rank heir = from_lower ? middle : low;
    if (r == holder) {
      node.step({send(heir, message)});
    } else if (r == heir) {
      node.step({receive(holder, message)});
    } else {
      node.step();
    }
    (in_lower ? high : low) = middle;
    if (in_lower != from_lower) holder = heir;
  }
}

namespace {

void halving_program(Node& node, const Call& call) {
  broadcast_halving(node, call.output.all(), call.arguments.root);
}

}  // namespace

Prediction predict_halving(const Setting& setting) {
  const Topology& topology = setting.topology;
  const double steps = log2_ceiling(topology.nodes());
  Prediction prediction{steps, steps, 0, 0};
  const bool closed_form = [&] {
    for (int d = 0; d < topology.dimensions(); ++d) {
      if (topology.factor(d).shape() == Shape::graph) return false;
    }
    const auto halves = [](Rank size) { return std::has_single_bit(static_cast<unsigned>(size)); };
    return topology.dimensions() == 1 || std::ranges::all_of(topology.sizes(), halves);
  }();
  if (closed_form) {
    prediction.link_load = topology.nodes() > 1 ? 1 : 0;
    prediction.link_blocks = steps;
  }
  return prediction;
}

WORMCUBE_ALGORITHM(broadcast_halving){
    .operation = operations::broadcast,
    .name = "halving",
    .summary = "recursive doubling by interval halving, farthest node first; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.1.1, Eq. 4.1, problem 4.1",
    .exactly_once = true,
    .remark = "free of contention in one dimension, and if all sizes are powers of two",
    .predict = predict_halving,
    .program = halving_program,
};

/// Halving splits ranks as a balanced binary tree with the nodes as leaves does.
WORMCUBE_ALGORITHM(broadcast_tree){
    .operation = operations::broadcast,
    .name = "tree",
    .summary = "one message crosses the root of every subtree, the largest first; trees",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.1.4, Fig. 4.7",
    .contention_free = true,
    .exactly_once = true,
    .neighbours_only = true,
    .remark = "halving, which splits ranks where the tree does",
    .needs = {{"needs one balanced binary tree",
               [](const Topology& topology) -> std::optional<std::string> {
                 const bool tree =
                     topology.dimensions() == 1 && topology.factor(0).shape() == Shape::tree;
                 return tree ? std::nullopt : std::optional(topology.name() + " is not one");
               }}},
    .instead = {"halving", "mesh"},
    .predict = predict_halving,
    .program = halving_program,
};

}  // namespace wormcube
