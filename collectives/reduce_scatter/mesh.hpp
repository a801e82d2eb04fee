// Reduce-scatter on a mesh or a torus.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"

namespace wormcube {

/// All nodes' blocks q combined in the order of ranks, at node q: the ring algorithm dimension by
/// dimension. In the lines of the last dimension first, with a bundle for each coordinate there;
/// what remains at a node are the blocks for its coordinate, of its line, which are neighbours.
///
/// \param in   one block for each node, of any sizes
/// \param out  room for this node's result; may be its block of `in`
///
/// Network  meshes and tori of any sides and dimensions; one-port.
/// Cost     sum of (side - 1) steps; transmission as reduce_scatter_ring on bundles of all blocks
///          for a coordinate: of commutative operators tw m (p - 1) in all.
/// Links    each carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.2.2 (the
///          reverse of Algorithm 4.6) and problem 4.4: columns first there, which breaks the order.
/// Throws   UsageError, before any message, unless network and blocks are as above, these of whole
///          elements.
void reduce_scatter_mesh(Node& node, const Reduction& reduction, ConstBlocks in, Span out);

}  // namespace wormcube
