// Views: a step of a part of the network, told to the node below in its own ranks and dimensions.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/node.hpp"

#include "wormcube/runtime/error.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube {

void View::step(std::span<const Op> ops) {
  ops_.clear();
  moves_.clear();
  for (const Op& op : ops) {
    for (const Move move : op.moves()) moves_.push_back(below(move));
  }
  auto moves = std::span<const Move>(moves_);
  for (const Op& op : ops) {
    if (op.to() == Op::To::rank) {
      ops_.push_back(op.with(below(peer_of(topology_, rank_, op))));
    } else {
      ops_.push_back(op.with(moves.first(op.moves().size())));
      moves = moves.subspan(op.moves().size());
    }
  }
  node().step(std::span<const Op>(ops_));
}

namespace {

const Topology& line_along(Node& node, int dimension) {
  if (dimension < 0 || dimension >= node.topology().dimensions()) {
    throw UsageError(fmt::format("{}: no dimension {} to go along: it has {}",
                                 node.topology().name(), dimension, node.topology().dimensions()));
  }
  return node.plan<Topology>("along", {dimension},
                             [&] { return Topology({node.topology().factor(dimension)}); });
}

}  // namespace

LineView::LineView(Node& node, int dimension)
    : View(node, line_along(node, dimension), node.coordinate(dimension)), dimension_(dimension) {}

Move LineView::below(Move move) const {
  if (move.dimension != 0) {
    throw UsageError(fmt::format("{}: node {} moves in dimension {} of a line view; it has 0 only",
                                 topology().name(), rank(), move.dimension));
  }
  return {dimension_, move.hops};
}

namespace {

const Topology& complete(Node& node, std::size_t members) {
  return node.plan<Topology>("group", {static_cast<std::int64_t>(members)}, [&] {
    return Topology({Graph::complete(static_cast<Rank>(members))});
  });
}

/// The node's position in the list.
Rank position(const Node& node, std::span<const Rank> members) {
  std::size_t found = members.size();
  bool ascending = true;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i] < 0 || members[i] >= node.size()) {
      throw UsageError(fmt::format("group: member {} of {} nodes", members[i], node.size()));
    }
    if (members[i] == node.rank()) found = i;
    ascending = ascending && (i == 0 || members[i - 1] < members[i]);
  }
  if (!ascending) {
    std::vector<Rank> sorted(members.begin(), members.end());
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice != sorted.end()) {
      throw UsageError(fmt::format("group: member {} is twice among the {} members; name each once",
                                   *twice, members.size()));
    }
  }
  if (found == members.size()) {
    throw UsageError(
        fmt::format("group: node {} is not among its {} members", node.rank(), members.size()));
  }
  return static_cast<Rank>(found);
}

}  // namespace

GroupView::GroupView(Node& node, std::span<const Rank> members)
    : View(node, complete(node, members.size()), position(node, members)), members_(members) {}

Move GroupView::below(Move /*move*/) const {
  throw UsageError("group: messages of a group are addressed by rank; moves need a line or ring");
}

Rank peer_of(const Topology& topology, Rank rank, const Op& op) {
  if (op.to() == Op::To::rank) {
    if (op.peer() < 0 || op.peer() >= topology.nodes()) {
      throw UsageError(
          fmt::format("{}: peer {} of {} nodes", topology.name(), op.peer(), topology.nodes()));
    }
    return op.peer();
  }
  for (const Move move : op.moves()) rank = topology.neighbour(rank, move.dimension, move.hops);
  return rank;
}

}  // namespace wormcube
