// The names of a plot's lines.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/commands/plot_rows.hpp"

#include <vector>

namespace wormcube::cli {

/// Leaves out options that distinguish no rows of one network, size and ports: those that follow
/// from the block size (segments=4) would cut a line into pieces.
void shorten_names(std::vector<PlotFile>& files);

}  // namespace wormcube::cli
