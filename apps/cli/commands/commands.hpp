// The subcommands of `wormcube`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/context.hpp"
#include "wormcube/apps/cli/core/exit_code.hpp"

#include <functional>
#include <string_view>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// What a subcommand does once its options are parsed.
using Action = std::function<ExitCode(Context&)>;

// Action add_NAME(CLI::App& program): adds a subcommand to the program and returns what it does.
#define WORMCUBE_COMMAND(name) Action add_##name(CLI::App& program);
#include "wormcube/apps/cli/commands/commands.inc"
#undef WORMCUBE_COMMAND

/// FFTW by its own name, "fftw-3.3.10-sse2-avx"; empty where `fft` is left out.
std::string_view fftw_library();

}  // namespace wormcube::cli
