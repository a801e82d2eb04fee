// What the registrations of algorithms with sources, or targets, share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/algorithm.hpp"
#include "wormcube/collectives/k_to_all/sources.hpp"
#include "wormcube/collectives/pattern_load.hpp"

#include <span>
#include <type_traits>

namespace wormcube {

/// The cost of p - 1 steps of one block, in the i-th of which each source and the node i ranks on
/// have a message. Nothing is rearranged, and all blocks lie in input and output. The loads are
/// known up to 2048 nodes: of more they take long to find.
/// \param message  theirs: which way it goes
Prediction direct_prediction(const Setting& setting,
                             PatternMessage (*message)(Rank source, Rank other));

/// The program that calls a function with the call's sources, and the reduction of what reduces.
template <auto Function>
void with_sources(Node& node, const Call& call) {
  const std::span<const Rank> sources = sources_of(call.arguments);
  if constexpr (std::is_invocable_v<decltype(Function), Node&, std::span<const Rank>, ConstBlocks,
                                    Blocks>) {
    Function(node, sources, call.input, call.output);
  } else {
    Function(node, call.arguments.reduction, sources, call.input, call.output);
  }
}

}  // namespace wormcube
