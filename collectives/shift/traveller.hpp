// A block on its path in a shift.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/blocks.hpp"

namespace wormcube {

/// A block on its path: it leaves from where it arrived last.
class Traveller {
 public:
  /// The last of `steps` steps delivers it.
  Traveller(Node& node, ConstBlocks mine, Blocks result, Rank steps);
  /// Where the block is, and where the next one arrives; called once for each step.
  struct Places {
    ConstSpan leaving;
    Span arriving;
  };
  Places next();

 private:
  Span result_;
  Memory spare_;
  ConstSpan at_;
  Rank left_;
};

}  // namespace wormcube
