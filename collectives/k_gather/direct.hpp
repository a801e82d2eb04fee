// k-from-all gather by single blocks, on any network.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

#include <span>

namespace wormcube {

/// k-from-all gather: in step i every target gets its block of the node i ranks before.
///
/// \param targets  k different nodes, ascending
/// \param mine     k blocks; block i is for the i-th target
/// \param result   p blocks of that size at a target, none elsewhere; block q comes from node q
///
/// Network  any, of any p, any targets; one-port.
/// Cost     (ts + tw m)(p - 1) where links are not shared.
/// Links    free of contention on hypercubes and complete networks.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.5.3 and 4.6.
/// Throws   UsageError, before any message, unless targets and blocks are as above.
void k_gather_direct(Node& node, std::span<const Rank> targets, ConstBlocks mine, Blocks result);

}  // namespace wormcube
