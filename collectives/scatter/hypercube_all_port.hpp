// Scatter and gather on a hypercube with all links at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Scatter: block q of the root's input ends as node q's own.
///
/// Of every block, part j of d goes along a copy j of the hypercube's tree that is rotated: it
/// crosses the dimensions j, j+1, .., j-1 (mod d).
///
/// \param out  the root's p blocks; not used on other nodes
/// \param own  room for this node's block
///
/// Network  hypercube of dimension d; all-port.
/// Cost     d steps, (p - 1) / d blocks: ts d + tw m (p - 1) / d. No rearrangement: the root sends
///          pieces, the others keep what they get in the order of the copy.
/// Links    the copies cross different dimensions in each step.
/// Source   Grama, Gupta, Karypis, Kumar, sec. 4.7.2.
/// Throws   UsageError, before any message, on other networks, and unless the blocks are as above.
void scatter_hypercube_all_port(Node& node, ConstBlocks out, Span own, Rank root);
/// Gather, the same backwards; the root's own block may lie in its place from the start.
void gather_hypercube_all_port(Node& node, ConstSpan own, Blocks in, Rank root);

}  // namespace wormcube
