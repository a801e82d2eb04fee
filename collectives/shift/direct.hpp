// Circular shift in one step, on any network.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

#include <string_view>

namespace wormcube {

/// Circular shift: node r's block ends at node r + by (modulo p).
///
/// \param mine    1 block; it may lie in \p result
/// \param result  1 block of that size
/// \param by      any number, also negative
///
/// Network  any, of any p; one-port.
/// Cost     1 step of 1 block, none if p divides `by`: ts + tw m where links are not shared.
/// Links    free of contention on hypercubes (with natural binary labels and e-cube routing) and
///          complete networks. A ring or line carries min(q, p - q) messages on a link, q = by mod p;
///          a mesh or torus the most of its dimensions: of the digit of q there, and of one more
///          where lower digits carry.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.6.2, Eq. 4.12,
///          Fig. 4.24; problems 4.22, 4.23.
/// Throws   UsageError, before any message, unless the blocks are as above.
void shift_direct(Node& node, std::int64_t by, ConstBlocks mine, Blocks result);

/// Throws UsageError unless there is one block on each side, of one size.
void require_shift(std::string_view algorithm, ConstBlocks mine, Blocks result);

/// A block on its way: it leaves from where it arrived last.
class Traveller {
 public:
  /// The last of `steps` steps delivers it.
  Traveller(Node& node, ConstBlocks mine, Blocks result, Rank steps);
  /// Where the block is, and where the next one arrives; once for each step.
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
