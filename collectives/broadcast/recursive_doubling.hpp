// Broadcast by recursive doubling: the hypercube's algorithm, on any network.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

enum class DoublingOrder : std::uint8_t {
  descending,  ///< the highest bit of ranks first: the farthest nodes
  ascending,   ///< the lowest first: neighbours
};
/// Half way round a ring both ways are as long.
enum class RingTies : std::uint8_t {
  plus,      ///< all go '+', as the router does
  balanced,  ///< nodes at even coordinates send '+', the others '-'
};

/// Broadcast: the root's message ends on every node. In each step all who have it send it to the
/// node whose rank differs in one bit.
///
/// \param message  the root's message; on the other nodes room for it, of the same size
///
/// Network  any, of 2^d nodes; of any number if the root is node 0, partners that are not there
///          left out. One-port.
/// Cost     ceil(log2 p) steps of the whole message. Descending: (ts + tw m) log2 p. Ascending on a
///          line, ring or tree: ts log2 p + tw m (p - 1), as step i puts 2^i messages on one link;
///          with balanced ties ts log2 p + tw m (3p/4 - 1) on a ring.
/// Links    hypercube, complete: free of contention in both orders; line, ring, tree, mesh: in the
///          descending one.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.1.3 and 4.1.5, Algorithms 4.1 and 4.2; problems
///          4.2 and 4.24.
/// Throws   UsageError, before any message, unless the root is a node; of other numbers of nodes
///          than 2^d for another root than 0, and for balanced ties.
void broadcast_recursive_doubling(Node& node, Span message, Rank root,
                                  DoublingOrder order = DoublingOrder::descending,
                                  RingTies ties = RingTies::plus);

/// The same on a hypercube in the order first, first + 1, .. of dimensions, modulo their number.
/// Throws UsageError, before any message, unless the root is a node.
void broadcast_rotated_doubling(Node& node, Span message, Rank root, int first);

}  // namespace wormcube
