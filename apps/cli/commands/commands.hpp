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

// Each adds one subcommand to the program and returns what it does. One file each.
Action add_list(CLI::App& program);
Action add_best(CLI::App& program);
Action add_run(CLI::App& program);
Action add_check(CLI::App& program);
Action add_show(CLI::App& program);
Action add_draw(CLI::App& program);
Action add_plot(CLI::App& program);
Action add_topology(CLI::App& program);
Action add_fft(CLI::App& program);
Action add_transpose(CLI::App& program);
Action add_matvec(CLI::App& program);
Action add_sort(CLI::App& program);
Action add_lookup(CLI::App& program);
Action add_deadlock(CLI::App& program);
Action add_replay(CLI::App& program);
Action add_machines(CLI::App& program);
Action add_tune(CLI::App& program);
Action add_reproduce(CLI::App& program);
Action add_mpicc(CLI::App& program);
Action add_mpicxx(CLI::App& program);
Action add_mpirun(CLI::App& program);
Action add_completion(CLI::App& program);
Action add_manual(CLI::App& program);

/// FFTW by its own name, "fftw-3.3.10-sse2-avx"; empty where `fft` is left out.
std::string_view fftw_library();

}  // namespace wormcube::cli
