// From exchanges in one dimension to a node's own messages in the whole product.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/alltoall/product/exchange_template.hpp"
#include "wormcube/collectives/core/blocks.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube {

/// A digit of a node's number: a coordinate, or several neighbouring ones taken as one.
struct Axis {
  Rank size, stride;
  Rank digit(Rank node) const { return node / stride % size; }
  Rank with(Rank node, Rank digit) const { return node + (digit - this->digit(node)) * stride; }
};

/// A block of the whole network.
struct Block {
  Rank source, destination;
  friend bool operator==(const Block&, const Block&) = default;
};

/// Total exchanges in all copies of one axis at once: every node sends every other digit x one
/// block, the one that `block` returns (none: that message is left out).
struct Exchange {
  Axis axis;
  std::shared_ptr<const ExchangeTemplate> exchange;
  std::function<std::optional<Block>(Rank node, Rank x, Rank copy)> block;

  /// The block that a transfer carries in the copy of the axis that this node is in.
  std::optional<Block> carried(Rank node, const BlockMove& transfer) const {
    return block(axis.with(node, transfer.source), transfer.destination, transfer.copy);
  }
};

/// Exchanges that run side by side, step by step.
struct Round {
  std::vector<Exchange> exchanges;
  /// The steps of the templates that are used; empty: all. (If messages are left out, steps may be
  /// idle on all nodes.)
  std::vector<std::size_t> taken = {};
  std::string name = {};  ///< of the steps from here on; empty: as before

  std::size_t steps() const;
};
/// A total exchange of a product as the theory defines it.
using Rounds = std::vector<Round>;

std::size_t total_steps(const Rounds& rounds);

/// make(topology), computed once for all nodes of a run: the last network's are cached.
std::shared_ptr<const Rounds> kept_rounds(Rounds (*make)(const Topology&),
                                          const Topology& topology);

/// The whole product's exchange as a template: for a factor of a larger product, or to be checked.
/// \param nodes  of the product; all its messages are stored
ExchangeTemplate expand(Rank nodes, const Rounds& rounds);

/// Where the blocks of one node's messages lie. The messages themselves are in the factors'
/// templates, the same for all nodes; a plan adds 4 bytes to each. It is a pure function of
/// rounds and rank.
struct NodePlan {
  /// One for each transfer of this node, in the order of the rounds, of each step's exchanges, of
  /// their sends and then their receives: block b of the node's input (of a send) or output (of a
  /// receive); ~h: place h of those that the node keeps for blocks under way; left_out: no message.
  std::vector<Rank> places;
  Rank held = 0;  ///< how many places the node keeps

  static constexpr Rank left_out = std::numeric_limits<Rank>::min();
};
NodePlan make_plan(Rank rank, const Rounds& rounds);

/// The node program: sends and receives this node's messages, step by step.
void run(Node& node, const Rounds& rounds, const NodePlan& plan, ConstBlocks out, Blocks in);
/// Builds this node's plan from a network's rounds, and follows it.
void run_rounds(Node& node, std::string_view algorithm, Rounds (*make)(const Topology&),
                ConstBlocks out, Blocks in);

}  // namespace wormcube
