// The nodes one after another.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/kit/positions.hpp"

#include "wormcube/runtime/node/arithmetic.hpp"

namespace wormcube {

Positions::Positions(const Topology& topology, bool by_ring, Rank root)
    : p_(topology.nodes()), root_(root) {
  if (!by_ring) return;
  order_ = shared_ring_order(topology);
  root_ = order_->positions[static_cast<std::size_t>(root)];
}

Rank Positions::node(Rank position) const {
  const Rank at = mod(root_ + position, p_);
  return order_ == nullptr ? at : order_->nodes[static_cast<std::size_t>(at)];
}

Rank Positions::position(Rank node) const {
  const Rank at = order_ == nullptr ? node : order_->positions[static_cast<std::size_t>(node)];
  return mod(at - root_, p_);
}

}  // namespace wormcube
