// How the program ends before its end: signals, faults, exit() in a plugin, and readers that leave.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace wormcube::cli {

/// The program runs: ends from outside and from within are told, with what was being done, and keep
/// what was finished. SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU end with 128 + signal, faults with
/// their own signal; a closed pipe and a file that grew too large are errors of writing.
class Running {
 public:
  Running();
  /// All is said: signals after that change nothing, and say nothing.
  /// \return the exit code: 128 + SIGPIPE where standard output is a pipe that nobody reads
  static int conclude(int code);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

}  // namespace wormcube::cli
