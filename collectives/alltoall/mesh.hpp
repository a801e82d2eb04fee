// Total exchange on a mesh or a torus: the ring algorithm in one dimension after the other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Total exchange: node r's block q ends as node q's block r. In each dimension, the last first,
/// blocks are bundled by their destinations' coordinate there and exchanged along the line or ring.
///
/// \param out  p blocks of one size; block q is for node q
/// \param in   p blocks of that size; block q comes from node q
///
/// Network  any mesh or torus, of any number of dimensions and any sizes n_d; one-port.
/// Cost     sum(n_d - 1) steps, p/2 sum(n_d - 1) blocks; p blocks are rearranged between two
///          dimensions (of more than one node). Square: (2 ts + tw m p)(sqrt p - 1) + tr m p.
/// Links    each link carries one message in a step.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.5.2,
///          Eq. 4.8; problem 4.13 (more dimensions), 4.21 (rearrangement).
/// Throws   UsageError, before any message, unless network and blocks are as above.
void alltoall_mesh(Node& node, ConstBlocks out, Blocks in);

}  // namespace wormcube
