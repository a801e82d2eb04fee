// Total exchange on a ring or a line: one way round, then the other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Total exchange: node r's block q ends as node q's block r. Every block goes the shorter way:
/// first all that go '+', to the nodes up to floor(p/2) on, then all that go '-'.
///
/// \param out  p blocks of one size; block q is for node q
/// \param in   p blocks of that size; block q comes from node q
///
/// Network  one ring or line of any p; one-port. On a line messages from one end to the other run
///          back over the reverse links, which are idle otherwise.
/// Cost     p - 1 steps, floor(p^2/4) blocks: ts(p - 1) + tw m floor(p^2/4).
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.5.1, remark
///          (which calls the one-directional algorithm optimal: only among such).
/// Throws   UsageError, before any message, unless network and blocks are as above.
void alltoall_ring_bidirectional(Node& node, ConstBlocks out, Blocks in);

}  // namespace wormcube
