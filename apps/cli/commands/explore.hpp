// mpirun --explore: repeated runs of a program with differently matched messages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/context.hpp"
#include "wormcube/apps/cli/core/exit_code.hpp"

namespace wormcube::cli {

/// Runs this process's command unchanged, then with --shuffle 1, 2, .., runs, and reports the runs
/// that end or print differently, ignoring the order of lines. Exit code: the first run's, or 1 if
/// any differs. Throws UsageError.
ExitCode explore(const Context& context, int runs);

}  // namespace wormcube::cli
