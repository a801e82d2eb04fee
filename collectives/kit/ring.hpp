// All-gather, reduce-scatter and all-reduce once round a ring through all nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/handover.hpp"
#include "wormcube/collectives/kit/pattern_load.hpp"
#include "wormcube/collectives/kit/positions.hpp"

#include <vector>

namespace wormcube {

/// Each block travels once round, to the next position in each of p - 1 steps. Every node's own
/// block is in its place.
void allgather_on_ring(Node& node, const Positions& ring, Blocks all);
/// The result for a node starts behind it and travels once round, each node adding its own block.
/// For an operator that does not commute, positions are ranks, and two partial results travel
/// together from where their order breaks off: over the ranks above, and over those below.
/// \param portion  the part of every block that is meant
void reduce_scatter_on_ring(Node& node, const Positions& ring, const Reduction& reduction,
                            ConstBlocks in, Span out, const Portion& portion = {});
/// Both, for the parts of a vector, one for each node. Each part is reduced in `segments`, one
/// after the other.
void allreduce_on_ring(Node& node, const Positions& ring, const Reduction& reduction,
                       ConstSpan mine, Span result, Rank segments = 1);
/// Part r of node r to the root, by interval halving of positions: ceil(log2 p) steps, p - 1 parts.
/// \param parts  at each node memory for all; its own is there
void gather_on_ring(Node& node, const Positions& ring, Blocks parts, Rank root);
/// Its messages, step by step, for parts of this many blocks.
std::vector<std::vector<PatternMessage>> gather_on_ring_messages(const Positions& ring, Rank root,
                                                                 double part);

/// Start-ups, transmission and combined blocks of the reduce-scatter on n nodes.
Prediction reduce_scatter_ring_cost(Rank n, bool commutative);
/// The same of the all-reduce, in vectors.
Prediction allreduce_ring_cost(Rank n, bool commutative, Rank segments = 1);
/// The load of a ring's links, and the hops: one message from each position to the next.
/// \param alike  whether all messages of a step have one size; else shared links are counted
Prediction with_ring_load(Prediction prediction, const Topology& topology, bool by_ring,
                          bool alike = true);

/// The option `order` of algorithms on this ring: ring, or rank.
Option ring_order_option();
bool is_by_ring(const Options& options);
/// Throws UsageError if the operator does not commute, and order=ring is not the order of ranks.
void require_ring_order(const Setting& setting);

}  // namespace wormcube
