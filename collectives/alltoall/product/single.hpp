// Total exchanges in one graph: Cayley graphs, lines, rings, complete graphs, and any other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/alltoall/product/exchange_template.hpp"
#include "wormcube/runtime/topology/cayley.hpp"

namespace wormcube {

/// Every node does the same relative to itself: the words s_1 .. s_L of shortest length, each
/// letter one step in which all nodes send over that generator.
///
/// Cost    s(e) = AS steps: optimal with one port.
/// Source  Dimakopoulos, Dimopoulos, Optimal total exchange in Cayley graphs, 2001 (abstract);
///         reconstruction.
ExchangeTemplate cayley_exchange(const CayleyStructure& group);

/// One-port line: odd and even links alternate; over each the block with the farthest to go.
///
/// Cost    n^2/2 - 1 steps (n even), (n^2 - 1)/2 (n odd): the load of the middle nodes.
/// Source  Dimakopoulos, Dimopoulos, Optimal total exchange in linear arrays and rings, 1994
///         (abstract); reconstruction.
ExchangeTemplate line_one_port(Rank nodes);

/// All-port line: every link in every step, the block with the farthest to go.
/// Cost    floor(n^2/4) steps for each copy: the middle link's load.
ExchangeTemplate line_all_port(Rank nodes, Rank copies = 1);

/// All-port ring of 3 or more: the shorter direction; at half the ring, half of the blocks each.
/// Cost    ceil(m n^2/8) steps for m copies, n even; m (n^2 - 1)/8, n odd.
ExchangeTemplate ring_all_port(Rank nodes, Rank copies = 1);

/// All-port complete graph: all at once. Cost: one step for each copy.
ExchangeTemplate complete_all_port(Rank nodes, Rank copies = 1);

/// Any graph, all ports: each node sends the blocks with the farthest to go first, over any free
/// link that brings them closer. No guarantee of optimality.
ExchangeTemplate greedy_all_port(const Adjacency& graph, Rank copies = 1);

/// Any graph, one port: blocks at, and on their way to, the node with the most to send come first.
/// No guarantee of optimality.
ExchangeTemplate greedy_one_port(const Adjacency& graph);

/// Any graph, one port: the h-th hops of all blocks, for h = 1, 2, .., packed into as few steps as
/// the busiest node allows (edge colouring). Of the neighbours that are closer each hop takes the
/// one that keeps the fullest receiver least full.
ExchangeTemplate layered_one_port(const Adjacency& graph);

/// Any graph: one block moves at a time. Cost: n AS steps.
ExchangeTemplate serial_exchange(const Adjacency& graph);

}  // namespace wormcube
