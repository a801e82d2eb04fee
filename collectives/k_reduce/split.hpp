// k-from-all reduction: reduce-scatter of parts, then a gather.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"

#include <span>

namespace wormcube {

/// k-from-all reduction of messages in p/k parts, the dual of k_broadcast_split: every node combines
/// one part of one target's block, the target gathers them in its own subcube of p/k nodes.
///
/// \param targets  k = 2^j different nodes, ascending, one in each of k subcubes
/// \param mine     k blocks; block i is for the i-th target
/// \param result   1 block of that size at a target, none elsewhere
///
/// Network  hypercube; one-port.
/// Cost     2 log p - log k steps: ts (2 log p - log k) + tw m (k + 1 - 2k/p).
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, problem 4.18 backwards.
/// Throws   UsageError, before any message, unless network, targets and blocks are as above, these
///          of whole elements.
void k_reduce_split(Node& node, const Reduction& reduction, std::span<const Rank> targets,
                    ConstBlocks mine, Blocks result);

}  // namespace wormcube
