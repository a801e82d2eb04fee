// All-reduces in the fewest steps: what has been combined so far goes on as a whole.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/blocks.hpp"
#include "wormcube/collectives/core/options.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/torus_handover.hpp"

#include <vector>

namespace wormcube {

/// What goes in a step: parts of the vector, a reduce-scatter and then an all-gather; or the whole
/// of what is combined so far, in half as many steps.
enum class VectorForm : std::uint8_t { parts, latency };
/// The option `form` of an algorithm that has both.
Option vector_form();
/// Of that option: latency. Nodes then bracket differently.
bool sends_whole(const Options& options);

/// What all nodes send together, step by step.
struct WholeVectors {
  int parts = 1;  ///< of the vector
  std::vector<std::vector<TorusMessage>> steps = {};
  std::vector<std::vector<int>> part_of = {};  ///< by step and message: which one it is
};

/// Every step: sends what it has, receives, combines. The operator must commute. With rounding
/// nodes may end with different last bits, for they combine in different orders.
/// \param mine    this node's vector
/// \param result  room for the result; may be `mine`
void allreduce_whole_vectors(Node& node, const WholeVectors& plan, const Reduction& reduction,
                             ConstSpan mine, Span result);
Prediction whole_vectors_cost(const Topology& topology, const WholeVectors& plan);

}  // namespace wormcube
