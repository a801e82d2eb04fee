// Views: a step of a part of the network, told to the node below in its own ranks and dimensions.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/node.hpp"

#include "wormcube/runtime/error.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube {

void View::step(std::span<const Op> ops) {
  ops_.assign(ops.begin(), ops.end());
  moves_.clear();
  for (const Op& op : ops) {
    if (op.peer() >= size()) {
      throw UsageError(fmt::format("{}: peer {} of {} nodes", topology_.name(), op.peer(), size()));
    }
    for (const Move move : op.moves()) moves_.push_back(below(move));
  }
  auto next_move = moves_.cbegin();
  for (std::size_t i = 0; i < ops.size(); ++i) {
    // An op's own single move or piece lives in the op, a list lives with the caller: only the
    // moves change.
    if (const auto count = static_cast<std::ptrdiff_t>(ops[i].moves().size()); count > 0) {
      ops_[i].set_moves({next_move, next_move + count});
      next_move += count;
    } else {
      ops_[i].set_peer(below(ops[i].peer()));
    }
  }
  node_.step(std::span<const Op>(ops_));
}

LineView::LineView(Node& node, int dimension)
    : View(node, Topology({node.topology().factor(dimension)}),
           node.topology().coordinate(node.rank(), dimension)),
      dimension_(dimension) {}

GroupView::GroupView(Node& node, std::span<const Rank> members)
    : View(node, Topology({Graph::complete(static_cast<Rank>(members.size()))}),
           static_cast<Rank>(std::ranges::find(members, node.rank()) - members.begin())),
      members_(members) {
  if (rank() == static_cast<Rank>(members.size())) {
    throw UsageError(
        fmt::format("group: node {} is not among its {} members", node.rank(), members.size()));
  }
  for (const Rank member : members) {
    if (member < 0 || member >= node.size()) {
      throw UsageError(fmt::format("group: member {} of {} nodes", member, node.size()));
    }
  }
}

Move GroupView::below(Move /*move*/) const {
  throw UsageError("group: messages of a group are addressed by rank; moves need a line or ring");
}

Rank destination(const Topology& topology, Rank from, const Op& op) {
  if (op.moves().empty()) {
    if (op.peer() < 0 || op.peer() >= topology.nodes()) {
      throw UsageError(
          fmt::format("{}: peer {} of {} nodes", topology.name(), op.peer(), topology.nodes()));
    }
    return op.peer();
  }
  for (const Move move : op.moves()) from = topology.neighbour(from, move.dimension, move.hops);
  return from;
}

}  // namespace wormcube
