// A permutation of nodes in one step, on any network.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/operations.hpp"

namespace wormcube {

/// Permutation: node r's block ends at the node that the permutation names.
///
/// \param mine    1 block; it may lie in \p result
/// \param result  1 block of that size
///
/// Network  any, of as many nodes as the permutation takes; one-port.
/// Cost     1 step of 1 block, none if every block stays: ts + tw m where links are not shared.
/// Links    on a hypercube, by e-cube routing: complement is free of contention; bit reversal and
///          transpose of p = 2^d nodes, d even, load a link with sqrt(p) / 2 messages.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.6 and 4.9.
/// Throws   UsageError, before any message, unless nodes and blocks are as above.
void permute_direct(Node& node, Permutation permutation, ConstBlocks mine, Blocks result);

}  // namespace wormcube
