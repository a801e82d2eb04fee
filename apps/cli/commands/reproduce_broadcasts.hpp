// wormcube reproduce wang-tseng: Figure 8, the lemma and the theorems.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/context.hpp"
#include "wormcube/apps/cli/core/exit_code.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/collectives/harness/check.hpp"

#include <string>
#include <vector>

namespace wormcube::cli {

struct ReproduceBroadcasts {
  std::vector<std::string> on;  ///< tori for the theorems; empty: those of theorem_networks()
  std::vector<int> sizes;       ///< sides of the figure; empty: those of broadcast_figure_sides()
  CheckOptions check;
  Rank count_up_to = 0;
  std::string svg;
  OutputOptions output;
};
/// With `on` the theorems alone, with `sizes` the figure alone, otherwise both.
ExitCode reproduce_broadcasts(Context& context, const ReproduceBroadcasts& options);

}  // namespace wormcube::cli
