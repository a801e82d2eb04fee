// Plots of results: their kinds, and their files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/commands/plot_rows.hpp"
#include "wormcube/apps/cli/core/context.hpp"

#include <string>
#include <vector>

namespace wormcube::cli {

struct PlotOptions {
  std::string html, svg, tidy;  ///< files, "-", or empty for none
  std::string ratio_to;         ///< the line to compare others with; empty: the first
  double copy_limit = 0;        ///< GB/s; 0: not drawn
  bool bare = false;            ///< pictures without heading and foot
};
/// Throws UsageError if there is nothing to draw, or files mix schemas.
void write_plots(const Context& context, std::vector<PlotFile> files, const PlotOptions& options);

}  // namespace wormcube::cli
