// How results were made.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"

namespace wormcube::cli {

/// Schema and program version, command line and settings, host, cores and date of this process.
Json made_json();
/// For made_json: the command line, and all options of the command with their values.
void set_command_line(int argc, const char* const* argv);
void set_settings(Json settings);

}  // namespace wormcube::cli
