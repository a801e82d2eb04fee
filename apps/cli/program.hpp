// The `wormcube` program: its subcommands, and how errors become exit codes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// The exit codes, which scripts rely on.
enum ExitCode : int { passed = 0, failed = 1, usage = 2, deadlock = 3, time_limit = 4 };

/// What a subcommand does once its options are parsed.
using Action = std::function<ExitCode()>;

// Each adds one subcommand to the program and returns what it does. One file each.
Action add_list(CLI::App& program);
Action add_run(CLI::App& program);
Action add_check(CLI::App& program);
Action add_show(CLI::App& program);
Action add_topology(CLI::App& program);
Action add_fft(CLI::App& program);
Action add_transpose(CLI::App& program);
Action add_matvec(CLI::App& program);
Action add_sort(CLI::App& program);
Action add_lookup(CLI::App& program);
Action add_deadlock(CLI::App& program);
Action add_reproduce(CLI::App& program);

class Cluster;

/// Runs the program: results to standard output, errors as `wormcube: TEXT` to standard error.
///
/// \param start_cluster  how to start the processes of --nodes-as mpi; nullptr: built without MPI
int main(int argc, const char* const* argv, std::unique_ptr<Cluster> (*start_cluster)() = nullptr);

}  // namespace wormcube::cli
