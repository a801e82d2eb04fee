// Words of the command line that are not ours: another program's, behind mpirun, mpicc and mpicxx.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace wormcube::cli {

/// The words of a command line: ours, and another program's.
struct CommandLine {
  std::vector<const char*> own;
  std::vector<std::string> program;
};

/// Cuts off what belongs to another program, behind mpirun, mpicc and mpicxx; mpirun's -np is -n.
/// Called by a link named mpicc, mpicxx (mpic++, mpiCC) or mpirun (mpiexec) the program is that
/// command.
CommandLine split_command_line(int argc, const char* const* argv);

}  // namespace wormcube::cli
