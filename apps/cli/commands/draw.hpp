// The page that `wormcube draw` writes, for other commands.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/context.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/call.hpp"
#include "wormcube/apps/cli/options/model.hpp"

#include <cstddef>
#include <string>

namespace wormcube::cli {

/// Algorithms side by side on a page.
inline constexpr std::size_t most_plays = 4;

struct DrawnComparison {
  std::string operation, on;
  AlgorithmOptions algorithm;
  CallOptions call;
  ModelOptions machine;
  bool replays = false;  ///< the page's clock: replayed times, or the formula's steps
  std::string bytes, html;
};
/// The page with these algorithms side by side.
void draw_comparison(Context& context, const DrawnComparison& comparison);

}  // namespace wormcube::cli
