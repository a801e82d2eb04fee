// The limits that the links of any network set to a collective: cuts and flows, exact if possible.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/theory.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace wormcube::theory {

/// The least time of a collective of blocks of one size, all ports: its unit is the time of one
/// block on one link. Each of the two links of a cable carries one block in it. Nothing is faster,
/// for any routes, steps and parts of blocks.
struct LinkBound {
  double blocks = 0;
  /// True: blocks in small enough parts come arbitrarily close to it. False: a valid bound, but the
  /// network may need more.
  bool tight = false;
  std::string_view source = {};  ///< "edge connectivity", "max-flow", "cut", ..
};

/// The fewest cables whose removal separates the nodes; for products by a closed form (Klavzar,
/// Spacapan, On the edge-connectivity of Cartesian product graphs, Asian-European J. Math. 1(1),
/// 2008), for graphs by max-flow. Nothing if that takes too long, and for one node.
std::optional<std::int64_t> edge_connectivity(const Topology& topology);

/// One block from one node to all others, or combined to one: 1 / edge connectivity, achieved by as
/// many trees without a common link. Source: J. Edmonds, Edge-disjoint branchings, 1973.
LinkBound broadcast_bound(const Topology& topology);

/// A block from each node to all others; in reverse, reduce_scatter: the largest ratio of the
/// blocks outside a part of the network to the links into it. Source: L. Zhao et al., ForestColl,
/// arXiv:2402.06787.
LinkBound allgather_bound(const Topology& topology);
/// The same with `blocks[r]` from node r, and, if `to` is a node, to that node alone (gather; in
/// reverse, scatter).
LinkBound gathering_bound(const Topology& topology, std::span<const std::int64_t> blocks,
                          Rank to = -1);

/// All nodes' blocks combined, to all: 1 / strength, the least of (k - 1) / cables between k parts.
/// Each tree of a packing combines upwards and spreads downwards. Source: C. St. J. A.
/// Nash-Williams and W. T. Tutte, J. London Math. Soc. 36, 1961; found as F. Barahona, Packing
/// spanning trees, Math. of Operations Research 20(1), 1995.
LinkBound allreduce_bound(const Topology& topology);

/// A block from each node to each other: the maximum concurrent flow. For a product it is that of
/// its dimensions, each times n / n_i: its routes may be taken dimension by dimension. Lines,
/// rings, complete graphs and trees have closed forms. For other graphs the lower bound is the
/// worst known cut or the sum of distances over the links; the upper bound is the load of the
/// busiest link if all shortest paths are used evenly. If the two differ, an exchange program
/// decides, if one is set.
LinkBound exchange_bound(const Topology& topology);

/// Solves the linear program of the maximum concurrent flow of one graph, for exchange_bound: a
/// bound and whether it is the optimum. Nothing if the graph is too large for it.
using ExchangeProgram = std::optional<LinkBound> (*)(const Graph&);
/// Set it before the first query; nullptr: none.
void use_exchange_program(ExchangeProgram program);

}  // namespace wormcube::theory
