// Prefix reduction across the labels' bits: Algorithm 4.9.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/loads.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

/// Whose blocks node r gets: those of 0 .. r, or of 0 .. r-1 (node 0 nothing).
enum class Prefix : std::uint8_t { inclusive, exclusive };

/// The blocks of the lower ranks combined in their order, at each node: partners across one bit,
/// lowest first, swap what all nodes that agree with them above it have given; the upper one of the
/// two puts it before its result.
///
/// \param mine    this node's block
/// \param result  room for the result; of an inclusive one it may be `mine`. Node 0's stays as it
///                is if exclusive
///
/// Network  any, of any p (partners beyond p are left out); one-port.
/// Cost     c = ceil(log2 p) steps of one block: (ts + tw m) c. In a step a node combines two blocks
///          at most: 2^d nodes tc m (2 log p - 1), exclusive tc m 2 (log p - 1).
/// Links    free of contention on hypercubes and complete networks; on a line 2^i messages share a
///          link in step i, tw m (p - 1) in all.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.3, Algorithm
///          4.9, Fig. 4.13. That appends on the right; the order of ranks is ours.
/// Throws   UsageError, before any message, unless the result has the size
///          of the operand, in whole elements.
void scan_hypercube(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                    Prefix prefix);

Prediction scan_hypercube_cost(const Topology& topology, Prefix prefix);

}  // namespace wormcube
