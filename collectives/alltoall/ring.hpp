// Total exchange on a ring or a line: bundles travel one way and shrink.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Total exchange: node r's block q ends as node q's block r.
///
/// \param out  p blocks of one size; block q is for node q
/// \param in   p blocks of that size; block q comes from node q
///
/// Network  one ring or line of any p; one-port. On a line the message from the last node to the
///          first runs back over the reverse links, which are idle otherwise.
/// Cost     p - 1 steps; step t moves p - t blocks: (ts + tw m p/2)(p - 1).
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.5.1,
///          Eq. 4.7.
/// Throws   UsageError, before any message, unless network and blocks are as above.
void alltoall_ring(Node& node, ConstBlocks out, Blocks in);

}  // namespace wormcube
