// Barrier by dissemination: step i tells the node 2^i ranks on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

namespace wormcube {

/// Barrier: no node leaves before the last one has entered.
///
/// Network  any, of any p; one-port.
/// Cost     ceil(log2 p) steps of empty messages: ts ceil(log2 p), the least possible.
/// Links    shift_link_load(2^i) messages share a link in step i: one on hypercubes and complete
///          networks.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, sec. 4.3 (a barrier
///          as an all-reduce of one word). For any p: D. Hensgen, R. Finkel, U. Manber, Two
///          Algorithms for Barrier Synchronization, Int. J. Parallel Programming 17(1), 1988.
void barrier_dissemination(Node& node);

}  // namespace wormcube
