// Total exchange on a product of any graphs, one port: dimension after dimension.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/alltoall/product/plan.hpp"

namespace wormcube {

/// Total exchange (all-to-all, personalised): node r's block q ends as node q's block r.
///
/// \param out  p blocks; block q is for node q
/// \param in   p blocks; block q comes from node q
///
/// From the last dimension to the first, all copies of its graph at once make one total exchange
/// for each setting of the other digits: of the earlier ones by destination, of the later ones by
/// source. What a block's digits are not yet, they become in this order.
///
/// Network   any product of graphs in which every vertex is a node; one-port, full duplex.
/// Cost      sum over i of (p/n_i) T_i start-ups of one block, T_i the steps of dimension i's own
///           exchange. Optimal if every T_i is the average status of its graph: rings, complete
///           graphs, other Cayley graphs and their products.
/// Links     neighbours only; one block per link and step.
/// Source    V. V. Dimakopoulos, N. J. Dimopoulos, A Theory for Total Exchange in Multidimensional
///           Interconnection Networks, IEEE Trans. Parallel and Distributed Systems 9(7), 1998,
///           Algorithm A2, Theorem 2, Corollary 2; all recursion steps written as one loop.
/// Throws    UsageError, before any message, for a tree, for factors that are too large, or for
///           buffers that are not p blocks of one size.
void alltoall_product(Node& node, ConstBlocks out, Blocks in);

void require_alltoall_product(const Topology& topology);
Prediction predict_alltoall_product(const Topology& topology);
/// The exchange itself.
Rounds product_rounds(const Topology& topology);

/// The same with the blocks of all dimensions but the first moved one at a time: where the theory
/// starts from.
///
/// Network   as above, dimensions after the first of at most 64 nodes each.
/// Cost      sum over i > 1 of p AS_i start-ups (AS_i the average status of dimension i), and
///           (p/n_1) T_1.
/// Source    the same, Algorithm A1, its first phase one block at a time in each copy.
void alltoall_product_naive(Node& node, ConstBlocks out, Blocks in);

void require_alltoall_product_naive(const Topology& topology);
Prediction predict_alltoall_product_naive(const Topology& topology);
Rounds product_naive_rounds(const Topology& topology);

}  // namespace wormcube
