// Parts of one block, cut between elements, and how they are gathered again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/blocks.hpp"
#include "wormcube/collectives/core/cost.hpp"
#include "wormcube/collectives/kit/loads.hpp"

#include <vector>

namespace wormcube {

/// The starts of the parts of a block of this many bytes, and the end of the last one: whole
/// elements, sizes that differ by at most one element.
std::vector<Bytes> part_offsets(Bytes bytes, Bytes element_bytes, Rank parts);

/// Part r of node r to the root, by interval halving: ceil(log2 p) steps, p - 1 parts.
/// \param parts  at each node memory for all; its own is there
void gather_parts(Node& node, Blocks parts, Rank root);
/// Part r of node r to all, by Bruck's all-gather, which is recursive doubling in a circle:
/// ceil(log2 p) steps, p - 1 parts.
void allgather_parts(Node& node, Blocks parts);
/// Its messages on p nodes, step by step, for parts of this many blocks.
std::vector<Messages> allgather_parts_messages(Rank p, double part);

}  // namespace wormcube
