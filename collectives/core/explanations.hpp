// Why algorithms and their phases exist: plain sentences for people who watch them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"

#include <span>
#include <string_view>

namespace wormcube {

struct Explanation {
  std::string_view operation, algorithm;
  std::string_view phase;  ///< its name, or how that begins; "": the whole algorithm
  std::string_view text;   ///< one or two sentences
};
std::span<const Explanation> explanations();

/// Why this phase exists and what each node holds after it; without a phase, the idea of the
/// algorithm, which is its summary where no sentence exists. Operations with blocks of different
/// sizes share the sentences of those with equal blocks, exscan those of scan.
std::string_view explanation(const Algorithm& algorithm, std::string_view phase = {});

}  // namespace wormcube
