// The checks that collectives share: made by every node alike, before its first message.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"
#include "wormcube/collectives/reduction.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <string_view>

namespace wormcube {

/// A total exchange among `nodes`: one block for each and one from each, all of one size.
/// Throws UsageError that names the algorithm and both numbers.
void require_exchange(std::string_view algorithm, Rank nodes, ConstBlocks out, ConstBlocks in);

/// The same with blocks of any sizes, where a block goes straight from its source to its
/// destination. This node's block for itself must have one size on both sides.
void require_direct_exchange(std::string_view algorithm, const Node& node, ConstBlocks out,
                             ConstBlocks in);

/// Whole elements of the operator.
void require_elements(std::string_view algorithm, const Reduction& reduction, Bytes bytes);

/// A reduction of one block: as many bytes to give as there is room for, and whole elements.
void require_reduction(std::string_view algorithm, const Node& node, const Reduction& reduction,
                       ConstSpan mine, ConstSpan result);

/// A root that is a node.
void require_root(std::string_view algorithm, Rank nodes, Rank root);

}  // namespace wormcube
