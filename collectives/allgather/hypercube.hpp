// All-gather by recursive doubling, in either order of the dimensions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// The order in which the bits of the label are gone through: the lowest first, or the highest.
enum class BitOrder : std::uint8_t { ascending, descending };

/// All-gather: every node's block to every node. In step t every node exchanges all that it has with
/// the node whose label differs in one bit.
///
/// \param mine  1 block; it may lie in its place in \p all
/// \param all   p blocks; block q is node q's. They may be uneven (allgatherv)
///
/// Network  any of p = 2^d nodes; one-port.
/// Cost     d steps of 1, 2, .., p/2 blocks: ts log p + tw m (p - 1) where links are not shared.
/// Links    free of contention on hypercubes and complete networks. On a line, ring or tree bit b
///          loads a link with 2^b messages: ascending tw m (p^2 - 1)/3, descending tw m (p log p)/2.
///          On an open mesh of s x s: tw m (p - 1)(s + 1)/3 and tw m (p + s)(log p)/4.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.2.3,
///          Algorithm 4.7, Eq. 4.4; Fig. 4.12, problems 4.3, 4.5, 4.24 (poorer networks).
/// Throws   UsageError, before any message, unless network and blocks are as above.
void allgather_hypercube(Node& node, ConstBlocks mine, Blocks all, BitOrder order);

}  // namespace wormcube
