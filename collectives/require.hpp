// The checks that collectives share: made by every node alike, before its first message.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <span>
#include <string_view>

namespace wormcube {

/// A total exchange among `nodes`: one block for each and one from each, all of one size.
/// Throws UsageError that names the algorithm and both numbers.
void require_exchange(std::string_view algorithm, Rank nodes, ConstBlocks out, ConstBlocks in);

/// The same with blocks of any sizes, where a block goes straight from its source to its
/// destination. This node's block for itself must have one size on both sides.
void require_direct_exchange(std::string_view algorithm, const Node& node, ConstBlocks out,
                             ConstBlocks in);

/// Blocks of one size, on both sides. \param instead  what to do with others
void require_even(std::string_view algorithm, ConstBlocks out, ConstBlocks in,
                  std::string_view instead = "cut them by their number, without offsets");

/// An operator that can be applied, to elements of one byte or more.
void require_operator(std::string_view algorithm, const Reduction& reduction);

/// Whole elements of such an operator.
void require_elements(std::string_view algorithm, const Reduction& reduction, Bytes bytes);

/// Each block, so that none ends in the middle of one.
void require_blocks_of_elements(std::string_view algorithm, const Reduction& reduction,
                                ConstBlocks blocks);

/// A reduction of one block: as many bytes to give as there is room for, and whole elements.
void require_reduction(std::string_view algorithm, const Node& node, const Reduction& reduction,
                       ConstSpan mine, ConstSpan result);

/// The same to a root, which is a node: whole elements on every node, and at the root as much room.
void require_reduction_to_root(std::string_view algorithm, const Node& node,
                               const Reduction& reduction, ConstSpan mine, ConstSpan result,
                               Rank root);

/// A root that is a node.
void require_root(std::string_view algorithm, Rank nodes, Rank root);

/// Nodes that are there, each once, ascending. \param what  one of them: "source"
void require_ascending(std::string_view algorithm, std::string_view what, Rank nodes,
                       std::span<const Rank> members);

}  // namespace wormcube
