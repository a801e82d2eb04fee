// Nodes that run the steps of a nonblocking collective as requests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/core/sent_matrix.hpp"
#include "wormcube/runtime/base/fiber/strand.hpp"
#include "wormcube/runtime/node/forwarding_node.hpp"
#include "wormcube/runtime/node/requests.hpp"
#include "wormcube/runtime/node/views.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace wormcube::mpi {

/// A node whose steps are requests in a context of their own, so that several collectives can run
/// at once. Messages are sent by rank, even if the program gives a path.
class NonblockingNode final : public ForwardingNode {
 public:
  NonblockingNode(Node& node, Requests& requests, SentMatrix& sent)
      : ForwardingNode(node), requests_(requests), sent_(sent) {}

  /// The following steps belong to the communicator's call with this number, on this strand.
  void begin(Strand& strand, std::uint32_t communicator, std::uint64_t number);
  using Node::step;
  void step(std::span<const Op> ops) override;
  /// Whether the step that it waits for is complete.
  bool can_go_on();

 private:
  Requests& requests_;
  SentMatrix& sent_;
  Strand* strand_ = nullptr;
  std::uint32_t context_ = 0;
  Tag first_ = 0;
  std::vector<Request> step_;  // its requests
  std::size_t complete_ = 0;   // how many of them, from the first
};

/// The number of the communicator that a message with this context belongs to, nonblocking
/// collectives included.
constexpr std::uint32_t communicator_of(std::uint32_t context) {
  return context >> 31U == 0 ? context : context >> 16U & 0x7fffU;
}

/// Where a communicator's nonblocking collectives run their steps.
struct NonblockingPlace {
  NonblockingPlace(Node& node, Requests& requests, SentMatrix& sent)
      : world(node, requests, sent) {}
  NonblockingNode world;
  std::unique_ptr<View> view;  ///< null: all nodes
  Node& node() { return view ? static_cast<Node&>(*view) : world; }
};

}  // namespace wormcube::mpi
