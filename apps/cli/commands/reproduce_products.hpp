// wormcube reproduce dimakopoulos.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/collectives/harness/check.hpp"

#include <string>
#include <vector>

namespace wormcube::cli {

/// \param networks  empty: those that show what the theory claims, and its limits
ExitCode reproduce_products(Context& context, const std::vector<std::string>& networks,
                            const CheckOptions& check, const OutputOptions& output);

}  // namespace wormcube::cli
