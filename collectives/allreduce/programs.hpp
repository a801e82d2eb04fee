// All-reductions that other algorithms use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/loads.hpp"

#include <vector>

namespace wormcube {

/// Partners across one bit after another combine what they have.
void allreduce_recursive_doubling(Node& node, const Call& call);
/// Its messages, step by step.
std::vector<Messages> recursive_doubling_messages(Rank p);

/// A reduction to node 0 by halves of intervals, then the same messages backwards.
void allreduce_reduce_broadcast(Node& node, const Call& call);
/// Its messages, step by step.
std::vector<Messages> reduce_broadcast_messages(Rank p);

}  // namespace wormcube
