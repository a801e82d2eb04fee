// All operations and algorithms, without a network.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/collectives/core/registry.hpp"

#include <vector>

namespace wormcube::cli {

/// What `list` has in JSON for an algorithm on any network.
Json describe(const Algorithm& algorithm);
std::vector<Json> list_everything(const std::vector<const Algorithm*>& algorithms,
                                  const OutputOptions& output);
/// One table for each operation: docs/reference/algorithms.md.
void print_markdown(const std::vector<const Algorithm*>& algorithms);

}  // namespace wormcube::cli
