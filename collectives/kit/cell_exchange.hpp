// Total exchanges in which the same cells are sent and received in a step.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/blocks.hpp"

#include <vector>

namespace wormcube {

/// One node's plan of an exchange by store and forward. The node has a cell for every block; a step
/// sends some cells' blocks on and receives others in their place. A cell begins with the block for
/// `destination` and ends with that from `source`; for one that never moves these are the node
/// itself.
struct CellExchange {
  struct Message {
    Move to, from;
    std::vector<Rank> cells;
  };
  std::vector<Rank> destination, source;  ///< by cell
  std::vector<std::vector<Message>> steps;

  /// Of each block part `part` of `parts`. A block is sent from where it arrived; the last arrival
  /// goes to its place in `in`.
  void run(Node& node, ConstBlocks out, Blocks in, Rank part = 0, Rank parts = 1) const;
};

}  // namespace wormcube
