// k-from-all reduction on a hypercube by recursive halving.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"

#include <span>

namespace wormcube {

/// k-from-all reduction, the dual of k-to-all broadcast: block i of all nodes, combined, ends at the
/// i-th of k nodes. The all-to-all reduction in which the other nodes want nothing.
///
/// The lowest bit first: then what is combined are neighbours, and the order of ranks is kept.
///
/// \param targets  k different nodes, ascending
/// \param mine     k blocks; block i is for the i-th target
/// \param result   1 block of that size at a target, none elsewhere
///
/// Network  hypercube, targets anywhere; one-port.
/// Cost     d = log2 p steps, in the step of bit b as many blocks as targets agree in the bits up to
///          b. To 0 .. k-1, k = 2^j: ts log p + tw m (log(p/k) + k - 1), as descending
///          k_broadcast_hypercube; to the multiples of p/k: ts log p + tw m (k log(p/k) + k - 1), as
///          ascending.
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, problem 4.16 backwards.
/// Throws   UsageError, before any message, unless network, targets and blocks are as above, these
///          of whole elements.
void k_reduce_hypercube(Node& node, const Reduction& reduction, std::span<const Rank> targets,
                        ConstBlocks mine, Blocks result);

}  // namespace wormcube
