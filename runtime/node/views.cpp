// Views: translate a step of a part of the network to the ranks and dimensions of the node below.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/node/views.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

void View::step(std::span<const Op> ops) {
  ops_.clear();
  moves_.clear();
  const bool by_rank = goes_by_rank();
  for (const Op& op : ops) {
    if (by_rank) break;
    Rank at = rank_;
    for (const Move move : op.moves()) moves_.push_back(below(move, at));
  }
  auto moves = std::span<const Move>(moves_);
  for (const Op& op : ops) {
    if (by_rank || op.to() == Op::To::rank) {
      ops_.push_back(op.with(below(peer_of(topology_, rank_, op))));
    } else {
      ops_.push_back(op.with(moves.first(op.moves().size())));
      moves = moves.subspan(op.moves().size());
    }
  }
  node().step(std::span<const Op>(ops_));
}

GridView::Plan GridView::make(const Node& node, std::span<const int> dimensions, int spacing) {
  const Topology& topology = node.topology();
  std::vector<Graph> factors;
  Plan plan{topology, {dimensions.begin(), dimensions.end()}, {}, spacing, node.rank(), 0};
  for (const int d : dimensions) {
    const Graph& factor = topology.factor(d);
    const Rank size = factor.nodes() / spacing, at = node.coordinate(d);
    factors.push_back(spacing == 1                    ? factor
                      : factor.shape() == Shape::ring ? Graph::ring(size)
                                                      : Graph::line(size));
    plan.strides.push_back(topology.stride(d) * spacing);
    plan.base -= at / spacing * plan.strides.back();
    plan.rank = plan.rank * size + at / spacing;
  }
  plan.topology = Topology(std::move(factors));
  return plan;
}

Rank GridView::below(Rank member) const {
  Rank rank = plan_.base;
  for (std::size_t d = 0; d < plan_.strides.size(); ++d) {
    rank += topology().coordinate(member, static_cast<int>(d)) * plan_.strides[d];
  }
  return rank;
}

Move GridView::below(Move move, Rank& at) const {
  if (move.dimension < 0 || move.dimension >= topology().dimensions()) {
    throw UsageError(fmt::format("{}: node {} of a view moves in dimension {}; the view has {}",
                                 topology().name(), rank(), move.dimension,
                                 topology().dimensions()));
  }
  const int dimension = plan_.dimensions[static_cast<std::size_t>(move.dimension)];
  if (plan_.spacing == 1) return {dimension, move.hops};
  // The view's own size is checked here: beyond it, hops times the spacing may overflow to a small
  // number.
  const Rank from = std::exchange(at, topology().neighbour(at, move.dimension, move.hops));
  const bool on_line = topology().factor(move.dimension).shape() == Shape::line;
  // On one cable either sign leads to the other node; on the line below it, only the right sign
  // does.
  const int hops = on_line ? topology().coordinate(at, move.dimension) -
                                 topology().coordinate(from, move.dimension)
                           : move.hops;
  return {dimension, hops * plan_.spacing};
}

GridView Node::along(int dimension) { return along(std::span(&dimension, 1)); }

GridView Node::along(std::span<const int> dimensions) {
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i] < 0 || dimensions[i] >= topology().dimensions()) {
      throw UsageError(fmt::format("{}: no dimension {} to go along: it has {}, numbered from 0",
                                   topology().name(), dimensions[i], topology().dimensions()));
    }
    if (i > 0 && dimensions[i - 1] >= dimensions[i]) {
      throw UsageError(fmt::format("{}: along dimension {} and then {}; name each once, ascending",
                                   topology().name(), dimensions[i - 1], dimensions[i]));
    }
  }
  const auto make = [&] { return GridView::make(*this, dimensions, 1); };
  if (dimensions.size() == 1) return {*this, plan<GridView::Plan>("along", {dimensions[0]}, make)};
  const std::vector<std::int64_t> key(dimensions.begin(), dimensions.end());
  return {*this, plan<GridView::Plan>("along", key, make)};
}

GridView Node::every(int spacing) {
  for (int d = 0; d < topology().dimensions(); ++d) {
    const Graph& factor = topology().factor(d);
    if (spacing < 1 || factor.nodes() % spacing != 0 || !factor.has_direction()) {
      throw UsageError(fmt::format(
          "{}: no part of every {} nodes: dimension {} is {}; needs rings and lines whose sizes "
          "are multiples of the spacing, 1 or more",
          topology().name(), spacing, d, factor.name()));
    }
  }
  return {*this, plan<GridView::Plan>("every", {spacing}, [&] {
            std::vector<int> all(static_cast<std::size_t>(topology().dimensions()));
            std::iota(all.begin(), all.end(), 0);
            return GridView::make(*this, all, spacing);
          })};
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
      throw UsageError(
          fmt::format("group: member {} out of range [0, {})", members[i], node.size()));
    }
    if (members[i] == node.rank()) found = i;
    ascending = ascending && (i == 0 || members[i - 1] < members[i]);
  }
  if (!ascending) {
    std::vector<Rank> sorted(members.begin(), members.end());
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice != sorted.end()) {
      throw UsageError(
          fmt::format("group: member {} occurs twice among the {} members; name each once", *twice,
                      members.size()));
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

}  // namespace wormcube
