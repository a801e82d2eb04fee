// The steps of nonblocking collectives.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/core/nonblocking_node.hpp"

namespace wormcube::mpi {

// Contexts of point-to-point messages are below this one, that of steps is above. The call's number
// has 31 bits, split between context and tag; the communicator's has 15, and tags of steps 16.
void NonblockingNode::begin(Strand& strand, std::uint32_t communicator, std::uint64_t number) {
  constexpr std::uint32_t mark = std::uint32_t{1} << 31U;
  strand_ = &strand;
  context_ = mark | communicator << 16U | static_cast<std::uint32_t>(number & 0xffffU);
  first_ = static_cast<Tag>((number >> 16U & 0x7fffU) << 16U);
}

void NonblockingNode::step(std::span<const Op> ops) {
  step_.clear();
  complete_ = 0;
  for (const bool sends : {false, true}) {
    for (const Op& op : ops) {
      if (op.is_send() != sends) continue;
      const Rank peer = peer_of(topology(), rank(), op);
      if (sends) sent_.count(peer, op.bytes());
      step_.push_back(
          requests_.start_background(op.with(peer).with_tag(first_ + op.tag()), context_));
    }
  }
  while (!can_go_on()) strand_->suspend();
}

bool NonblockingNode::can_go_on() {
  while (complete_ < step_.size() && requests_.end_background(step_[complete_])) ++complete_;
  return complete_ == step_.size();
}

}  // namespace wormcube::mpi
