// Broadcast of long messages: a scatter of parts, then an all-gather.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// How the parts get together.
enum class PartsAllgather : std::uint8_t {
  neighbours,  ///< round each line and ring, the last dimension first; a hypercube's is doubling
  doubling,    ///< across one bit of ranks after another, the lowest first; 2^d nodes
};

/// Broadcast: the root's message, cut into p nearly equal parts, is scattered by halving, dimension
/// by dimension; then all nodes gather all parts.
///
/// \param message  the root's message; on the other nodes room for it, of the same size
///
/// Network  any; `doubling`: 2^d nodes; one-port.
/// Cost     2 m (p - 1) / p in sum of ceil(log2 n_d) steps and those of the all-gather, sum of
///          (n_d - 1) or log2 p: hypercube 2 (ts log2 p + tw m (p - 1) / p), ring
///          ts (log2 p + p - 1) + 2 tw m (p - 1) / p. Less than log2 p times the message when m is
///          above (ts / tw) log2 p / (log2 p - 2 (p - 1) / p) on a hypercube of p > 2.
/// Links    neighbours: free of contention on lines, rings, complete networks and 2^d-trees, and
///          their products; doubling: on hypercubes and complete networks.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.7.1, Eq. 4.13.
/// Throws   UsageError, before any message, for doubling on other numbers of nodes, and unless the
///          root is a node.
void broadcast_scatter_allgather(Node& node, Span message, Rank root,
                                 PartsAllgather allgather = PartsAllgather::neighbours);

}  // namespace wormcube
