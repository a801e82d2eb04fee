// All-reduce in parts: reduce-scatter, then all-gather.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/broadcast/recursive_doubling.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

enum class PartsPattern : std::uint8_t { doubling, ring };
/// Of doubling.
enum class PartsOrder : std::uint8_t {
  plain,       ///< both nearest ranks first
  mirrored,    ///< the all-gather is the reduce-scatter backwards
  interleaved  ///< mirrored, and the bits of the dimensions by turns
};
struct PartsOptions {
  PartsPattern pattern = PartsPattern::doubling;
  PartsOrder order = PartsOrder::plain;
  RingTies ties = RingTies::plus;  ///< of mirrored and interleaved
};

/// All nodes' blocks combined in the order of ranks, on every node, and bit by bit the same on all:
/// each node combines one part of the block, and all gather the parts. Parts are whole elements,
/// some empty if there are few.
///
/// \param mine    this node's block
/// \param result  room for the result; may be `mine`
///
/// Network  doubling: any, of any p (interleaved, balanced ties: 2^d nodes); ring: one ring or line;
///          one-port. Interleaved needs an operator that commutes.
/// Cost     doubling, 2^d nodes: 2 (ts log p + tw m (p-1)/p) + tc m (p-1)/p.
///          ring, commutative: 2 (p-1)(ts + tw m/p) + tc m (p-1)/p. Operators that do not commute
///          take reduce_scatter_bruck's and reduce_scatter_ring's second partial results.
/// Links    ring: each carries one message in a step; doubling: on hypercubes. Elsewhere the orders
///          differ: vectors of time on torus:8x8 are 4.641 plain, 3.375 mirrored, 2.625 interleaved,
///          and with balanced ties 2.8125 and 2.4375. On torus:4x4 and 4x4x4 balanced ties leave one
///          message on a link.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.7.1, Eq. 4.14,
///          which names the two operations wrongly: all-to-all reduction, all-to-all broadcast.
///          mirrored: allgather_bruck's far_first; interleaved: ours.
/// Throws   UsageError, before any message, unless network and operator are as above and the result has
///          the size of the operand, in whole elements.
void allreduce_by_parts(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                        const PartsOptions& options = {});

}  // namespace wormcube
