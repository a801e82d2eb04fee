// Scatter and gather by store and forward.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Scatter by nearest neighbours: block q of the root's input ends as node q's own.
///
/// Dimension by dimension the root of a line sends a bundle for each other coordinate, the farthest
/// first, the shorter way; each is passed on hop by hop, one step behind another.
///
/// \param out    the root's p blocks; not used on other nodes
/// \param own    room for this node's block
/// \param sizes  of all nodes' blocks; empty: all as `own`
///
/// Network  lines, rings, meshes and tori of any sizes; one-port.
/// Cost     sum of (n_d - 1) steps, p - 1 blocks: on one ring (ts + tw m) (p - 1). At most n - s
///          nodes of a line are s or more hops away, so all bundles arrive by the last step.
/// Links    every message takes one hop, on a link of its own.
/// Source   Grama, Gupta, Karypis, Kumar, problem 4.13.
/// Throws   UsageError, before any message, on other networks, and unless the blocks are as above.
void scatter_ring(Node& node, ConstBlocks out, Span own, Rank root,
                  std::span<const Bytes> sizes = {});
/// Gather, the same backwards: node q's own block ends as block q of the root's `in`, where the
/// root's own may lie from the start.
void gather_ring(Node& node, ConstSpan own, Blocks in, Rank root,
                 std::span<const Bytes> sizes = {});

}  // namespace wormcube
