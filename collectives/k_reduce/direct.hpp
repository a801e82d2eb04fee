// k-from-all reduction by single blocks, on any network.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"

#include <span>

namespace wormcube {

/// k-from-all reduction: in step t every target gets its block of the node t ranks on. What came from
/// lower ranks and from higher ones is combined apart, so that the order of ranks is kept.
///
/// \param targets  k different nodes, ascending
/// \param mine     k blocks; block i is for the i-th target
/// \param result   1 block of that size at a target, none elsewhere
///
/// Network  any, of any p, any targets; one-port.
/// Cost     (ts + tw m)(p - 1) where links are not shared.
/// Links    free of contention on hypercubes and complete networks.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.2 and 4.6.
/// Throws   UsageError, before any message, unless targets and blocks are as above, these of whole
///          elements.
void k_reduce_direct(Node& node, const Reduction& reduction, std::span<const Rank> targets,
                     ConstBlocks mine, Blocks result);

}  // namespace wormcube
