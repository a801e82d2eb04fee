// Arguments of another program, after mpirun, mpicc and mpicxx.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace wormcube::cli {

/// The words of a command line: ours, and the other program's.
struct CommandLine {
  std::vector<const char*> own;
  std::vector<std::string> program;
};

/// Splits off the other program's words after mpirun, mpicc and mpicxx; mpirun's -np becomes -n.
/// Started by a link named mpicc, mpicxx (mpic++, mpiCC) or mpirun (mpiexec) the program is that
/// command.
CommandLine split_command_line(int argc, const char* const* argv);

}  // namespace wormcube::cli
