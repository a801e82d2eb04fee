// Prefix reduction over the elements of an array that is distributed over the nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/blocks.hpp"
#include "wormcube/collectives/core/reduction.hpp"

namespace wormcube {

/// Element i becomes the combination of elements 0 .. i of the whole array, which lies on the nodes
/// in the order of ranks: each node scans its own, the nodes' totals are scanned exclusively, and
/// each node combines the result with its own.
///
/// \param elements  this node's, in place
/// \param counts    how many elements each node has, known to all; a node with 0 takes no part
///
/// Network  any, of any p; one-port.
/// Cost     for 2^d nodes with n elements each ts log p + tw log p words, and 2n - 1 + 2 (log p -
///          1) elements combined.
/// Links    as scan_hypercube.
/// Source   Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, problem 4.10.
/// Throws   UsageError, before any message, unless the counts fit.
void scan_elements(Node& node, const Reduction& reduction, Span elements,
                   std::span<const Bytes> counts);

}  // namespace wormcube
