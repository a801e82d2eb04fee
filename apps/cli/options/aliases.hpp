// What other libraries call the algorithms: lists and notes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/collectives/core/operation.hpp"

#include <span>
#include <string>
#include <vector>

namespace wormcube::cli {

/// Prints the names, of one operation or of all.
std::vector<Json> list_aliases(const std::string& operation, const OutputOptions& output);
/// Notes which algorithm each of these names is, if another library calls it so.
void note_aliases(Results& results, Operation operation, std::span<const std::string> names);

}  // namespace wormcube::cli
