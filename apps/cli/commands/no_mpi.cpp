// The MPI commands in a program without the MPI front end: explains how to get them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <string>

#include <fmt/core.h>

namespace wormcube::cli {

static Action add_missing(CLI::App& program, const std::string& name) {
  CLI::App& app =
      *program.add_subcommand(name, "Not available: the demo is built without MPI programs");
  app.prefix_command();  // whatever follows
  return [name](Context&) -> ExitCode {
    throw UsageError(
        fmt::format("{}: the demo is built without it; `./run build` builds the whole program, "
                    "build/release/wormcube",
                    name));
  };
}

Action add_mpicc(CLI::App& program) { return add_missing(program, "mpicc"); }
Action add_mpicxx(CLI::App& program) { return add_missing(program, "mpicxx"); }
Action add_mpirun(CLI::App& program) { return add_missing(program, "mpirun"); }
Action add_prove(CLI::App& program) { return add_missing(program, "prove"); }

}  // namespace wormcube::cli
