// From exchanges in one dimension to a node's own messages in the whole product.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/alltoall/product/exchange_template.hpp"
#include "wormcube/collectives/blocks.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <functional>
#include <memory>
#include <optional>
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
};

/// Total exchanges in all copies of one axis at once: every node sends to every other digit x one
/// block, the one that `block` says (none: that message is left out).
struct Exchange {
  Axis axis;
  std::shared_ptr<const ExchangeTemplate> exchange;
  std::function<std::optional<Block>(Rank node, Rank x, Rank copy)> block;

  /// The block that a transfer carries in the copy of the axis that this node is in.
  std::optional<Block> carried(Rank node, const Transfer& transfer) const {
    return block(axis.with(node, transfer.source), transfer.destination, transfer.copy);
  }
};

/// Exchanges that run side by side, step by step.
struct Round {
  std::vector<Exchange> exchanges;
  /// The steps of the templates that are taken; empty: all. (Where messages are left out, steps
  /// may be idle on all nodes.)
  std::vector<std::size_t> taken = {};

  std::size_t steps() const;
};
/// A total exchange of a product as the theory states it.
using Rounds = std::vector<Round>;

std::size_t total_steps(const Rounds& rounds);

/// make(topology), made once for all nodes of a run: the last network's are kept.
std::shared_ptr<const Rounds> kept_rounds(Rounds (*make)(const Topology&),
                                          const Topology& topology);

/// The whole product's exchange as a template: of a factor of a larger product, or to be checked.
/// \param nodes  of the product; all its messages are written down
ExchangeTemplate expand(Rank nodes, const Rounds& rounds);

/// One node's messages and where their blocks are: in the call's input or output, or in a place of
/// the node's own while they are under way. The plan of a node is a pure function of network and
/// rounds.
struct NodePlan {
  enum class Where : std::uint8_t { input, output, held };
  struct Message {
    Op::Kind kind;
    Where where;
    std::int8_t dimension;  // in which the peer differs
    std::int8_t hops;       // towards the peer along a line or ring; 0: address it by rank
    Rank peer;
    Rank place;  // block of the input or output, or place held
  };
  std::vector<Message> messages;
  std::vector<std::uint32_t> step_ends;  // step t's messages end here
  Rank held = 0;                         // places
};
NodePlan make_plan(const Topology& topology, Rank rank, const Rounds& rounds);

/// The node program: this node's messages, step by step.
void run(Node& node, const NodePlan& plan, ConstBlocks out, Blocks in);
/// Makes this node's plan from a network's rounds, and follows it.
void run_rounds(Node& node, std::string_view algorithm, Rounds (*make)(const Topology&),
                ConstBlocks out, Blocks in);

}  // namespace wormcube
