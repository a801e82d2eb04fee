// Nodes on which the steps of a nonblocking collective are requests.
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

/// A node whose steps are requests in a context of their own, so that several go on at once. A
/// message goes by rank, also where the program gives its way.
class NonblockingNode final : public ForwardingNode {
 public:
  NonblockingNode(Node& node, Requests& requests, SentMatrix& sent)
      : ForwardingNode(node), requests_(requests), sent_(sent) {}

  /// The steps that follow: those of the communicator's call of that number, on that strand.
  void begin(Strand& strand, std::uint32_t communicator, std::uint64_t number);
  using Node::step;
  void step(std::span<const Op> ops) override;
  /// Whether the step that it waits in is complete.
  bool can_go_on();

 private:
  Requests& requests_;
  SentMatrix& sent_;
  Strand* strand_ = nullptr;
  std::uint32_t context_ = 0;
  Tag first_ = 0;
  std::vector<Request> step_;  // its requests
  std::size_t complete_ = 0;   // of those, the first so many
};

/// The number of the communicator that a message of this context belongs to, a collective's beside
/// too.
constexpr std::uint32_t communicator_of(std::uint32_t context) {
  return context >> 31U == 0 ? context : context >> 16U & 0x7fffU;
}

/// Where a communicator's collectives take their steps beside the program.
struct NonblockingPlace {
  NonblockingPlace(Node& node, Requests& requests, SentMatrix& sent)
      : world(node, requests, sent) {}
  NonblockingNode world;
  std::unique_ptr<View> view;  ///< null: all nodes
  Node& node() { return view ? static_cast<Node&>(*view) : world; }
};

}  // namespace wormcube::mpi
