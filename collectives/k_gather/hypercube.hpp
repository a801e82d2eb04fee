// k-from-all gather on a hypercube: exchange, then gather.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

#include <span>

namespace wormcube {

/// k-from-all gather, the dual of k-to-all personalized communication: block i of every node ends at
/// the i-th of k nodes. First the nodes of a column exchange pair by pair, so that every node has what
/// its own subcube's target wants of the column; then each target gathers these in its subcube.
///
/// \param targets  k = 2^j different nodes, ascending, one in each of k subcubes
/// \param mine     k blocks; block i is for the i-th target
/// \param result   p blocks of that size at a target, none elsewhere; block q comes from node q
///
/// Network  hypercube; one-port.
/// Cost     log(p/k) + k - 1 steps: ts (log(p/k) + k - 1) + tw m (p - 1).
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, problem 4.20 backwards.
/// Throws   UsageError, before any message, unless network, targets and blocks are as above.
void k_gather_hypercube(Node& node, std::span<const Rank> targets, ConstBlocks mine, Blocks result);

}  // namespace wormcube
