// What the links of any network allow a collective: cuts and flows, exact where they can be found.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/theory.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace wormcube::theory {

/// The least time of a collective of blocks of one size, all ports: its unit is what one block
/// takes on one link. Each link, of the two that a cable is, carries one block in it. Whatever the
/// routes, the steps and the parts of blocks are, nothing is faster.
struct LinkBound {
  double blocks = 0;
  /// Blocks in small enough parts come as near to it as one likes. False: a valid bound, but the
  /// network may need more.
  bool tight = false;
  std::string_view source = {};  ///< "edge connectivity", "max-flow", "cut", ..
};

/// The fewest cables that part the nodes; of products by a closed form (Klavzar, Spacapan, On the
/// edge-connectivity of Cartesian product graphs, Asian-European J. Math. 1(1), 2008), of graphs by
/// max-flow. Nothing where that takes too long, and for one node.
std::optional<std::int64_t> edge_connectivity(const Topology& topology);

/// One block from one node to all others, or combined to one: 1 / edge connectivity, by as many
/// trees without a common link. Source: J. Edmonds, Edge-disjoint branchings, 1973.
LinkBound broadcast_bound(const Topology& topology);

/// A block of each node to all others; backwards, reduce_scatter: the largest of the blocks outside
/// a part of the network over the links into it. Source: L. Zhao et al., ForestColl,
/// arXiv:2402.06787.
LinkBound allgather_bound(const Topology& topology);
/// The same with `blocks[r]` of node r, and, where `to` is a node, to it alone (gather; backwards,
/// scatter).
LinkBound gathering_bound(const Topology& topology, std::span<const std::int64_t> blocks,
                          Rank to = -1);

/// All nodes' blocks combined, to all: 1 / strength, the least of (k - 1) / cables between k parts.
/// Each tree of a packing combines upwards and spreads downwards. Source: C. St. J. A.
/// Nash-Williams and W. T. Tutte, J. London Math. Soc. 36, 1961; found as F. Barahona, Packing
/// spanning trees, Math. of Operations Research 20(1), 1995.
LinkBound allreduce_bound(const Topology& topology);

/// A block of each node for each other: the maximum concurrent flow. Of a product it is that of its
/// dimensions, each times n / n_i: its routes may be taken dimension by dimension. Lines, rings,
/// complete graphs and trees have closed forms; of other graphs it lies between the worst known cut
/// or the sum of distances over the links, and what the ways that are shortest, used evenly, load a
/// link with. Where the two differ an exchange program tells, if there is one.
LinkBound exchange_bound(const Topology& topology);

/// Solves the linear program of the maximum concurrent flow of one graph, for exchange_bound: a
/// bound and whether it is the optimum. Nothing where the graph is too large for it.
using ExchangeProgram = std::optional<LinkBound> (*)(const Graph&);
/// Set it before the first question; nullptr: there is none.
void use_exchange_program(ExchangeProgram program);

}  // namespace wormcube::theory
