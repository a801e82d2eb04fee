// All-reduces in the fewest steps: each step sends everything combined so far.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/blocks.hpp"
#include "wormcube/collectives/core/options.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/collectives/kit/torus_handover.hpp"

#include <vector>

namespace wormcube {

/// What a step sends: parts of the vector, a reduce-scatter and then an all-gather; or everything
/// combined so far, in half as many steps.
enum class VectorForm : std::uint8_t { parts, latency };
/// The option `form` of an algorithm that has both.
Option vector_form();
/// Whether that option is `latency`. On most networks nodes then bracket differently.
bool sends_whole(const Options& options);

/// What all nodes send together, step by step.
struct WholeVectors {
  int parts = 1;  ///< of the vector
  std::vector<std::vector<TorusMessage>> steps = {};
  std::vector<std::vector<int>> part_of = {};  ///< by step and message: which part it is
};

/// In every step: sends what it has, receives, combines. The operator must commute. With rounding
/// nodes may end with different last bits, because they combine in different orders.
/// \param mine    this node's vector
/// \param result  memory for the result; may be `mine`
void allreduce_whole_vectors(Node& node, const WholeVectors& plan, const Reduction& reduction,
                             ConstSpan mine, Span result);
Prediction whole_vectors_cost(const Topology& topology, const WholeVectors& plan);

}  // namespace wormcube
