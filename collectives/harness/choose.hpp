// What an algorithm takes on a network, contention included: by its formulas, or counted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/registry.hpp"

#include <cstdint>
#include <string_view>

namespace wormcube {

/// How it is known what a prediction's messages take on links that they share.
enum class Contention : std::uint8_t {
  none,     ///< no two share one: the source claims it, and checks hold it to that
  formula,  ///< the source's
  counted,  ///< in a dry run, where there is no formula and the network is small
  unknown,  ///< neither: the time is the least that it can be
};
std::string_view to_string(Contention contention);

struct Weighed {
  /// The algorithm's, with contended_blocks filled in unless they are unknown.
  Prediction prediction;
  Contention contention = Contention::unknown;
};
/// What the model, and `auto`, take an algorithm for. Costs a dry run where contention has to be
/// counted, of at most 2^17 messages.
Weighed weigh(const Collective& collective, const Topology& topology);

}  // namespace wormcube
