// The nodes one after another, in the order of ranks or of the network's ring.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/ring_order.hpp"

#include <memory>

namespace wormcube {

/// Which node is at which position: the root, then the nodes behind it, wrapping around, in the
/// order of ranks or in the network's ring order.
class Positions {
 public:
  /// \param by_ring  ring_order(), computed once for all nodes
  Positions(const Topology& topology, bool by_ring, Rank root = 0);
  Rank node(Rank position) const;
  Rank position(Rank node) const;
  Rank count() const { return p_; }

 private:
  Rank p_, root_;
  std::shared_ptr<const RingOrder> order_;  // null: the order of ranks
};

}  // namespace wormcube
