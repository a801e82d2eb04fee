// All-reduce on meshes, all ports, in segments: one is gathered while the next is reduced.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/cost.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/runtime/node/node.hpp"

namespace wormcube {

/// On a line of n nodes an all-gather uses the link up from x in its steps 1 .. x + 1 of n - 1, and
/// a reduce-scatter uses it in its last n - 1 - x steps. So the gather of one segment and the
/// reduce-scatter of a later one fit into a window of n steps in which every link is busy. Windows
/// are as long as the longest side; a shorter one uses the first n steps for both.
///
/// Window (w, t), for w = 0, 1, .. and t = D-1 .. 0, copy j in dimension j + t (mod D), has phase t
/// of the reduce-scatter of segment w, and phase t of the gather of segment w - 1 - t.
///
/// Cost     equal sides n, o_t = max(0, k - 1 - t): 2 D k (n - 1) - (n - 2) sum o_t steps,
///          sum n^t (2 k (n - 1) - (n - 2) o_t)/(k D p) vectors. For k segments that is at most
///          (k + D)/k times the bound, (p - 1)/cables.
/// Source   ours; the bound: Nash-Williams, Tutte, 1961.
void allreduce_in_segments(Node& node, const Reduction& reduction, ConstSpan mine, Span result,
                           Rank segments);
Prediction segmented_cost(const Topology& topology, Rank segments);

}  // namespace wormcube
