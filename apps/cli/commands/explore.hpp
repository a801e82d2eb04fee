// mpirun --explore: a program's run again and again, its messages matched otherwise.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/context.hpp"
#include "wormcube/apps/cli/core/exit_code.hpp"

namespace wormcube::cli {

/// Runs the command that this process is, first as it is, then with --shuffle 1, 2, .., runs; says
/// which of them end or print otherwise, whatever the order of their lines. Exit code: that of the
/// first run, or 1 if any differs. Throws UsageError.
ExitCode explore(const Context& context, int runs);

}  // namespace wormcube::cli
