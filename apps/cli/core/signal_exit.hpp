// How the program ends before its end: signals, faults, exit() in a plugin, and readers that leave.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/context.hpp"

namespace wormcube::cli {

/// While one lives, the program reports how it is ended, from outside or from within, with what it
/// was doing, and keeps what was finished. Signals end it with 128 + signal; those that leave a
/// core dump, and faults, end it by the signal itself. SIGKILL and real-time signals end it as
/// ever. A closed pipe and a file that grew too large are errors of writing.
class SignalExit {
 public:
  explicit SignalExit(Context& context);
  /// All is said: signals after that change nothing, and say nothing.
  /// \return the exit code: instead of 0, 128 + SIGPIPE where standard output is a pipe that nobody
  /// reads
  static int conclude(int code);
  ~SignalExit();
  SignalExit(const SignalExit&) = delete;
  SignalExit& operator=(const SignalExit&) = delete;
};

}  // namespace wormcube::cli
