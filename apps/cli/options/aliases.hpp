// What other libraries call the algorithms: lists and notes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/collectives/core/operation.hpp"

#include <span>
#include <string>
#include <vector>

namespace wormcube::cli {

/// Prints the names, of one operation or of all.
std::vector<Json> list_aliases(const std::string& operation, const OutputOptions& output);
/// "openmpi.ring is ring:order=rank", for each of these names that is another library's.
std::vector<std::string> alias_notes(Operation operation, std::span<const std::string> names);

}  // namespace wormcube::cli
