// wormcube check --schedule: the laws and counts of a schedule from a file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/context.hpp"
#include "wormcube/apps/cli/core/exit_code.hpp"
#include "wormcube/apps/cli/output/files.hpp"

#include <string>

namespace wormcube::cli {

/// \param all_port  one message per link at a time, instead of one per node
ExitCode check_schedule(const Context& context, const std::string& file, bool all_port,
                        int virtual_channels, const OutputOptions& output);

}  // namespace wormcube::cli
