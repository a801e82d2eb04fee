// How the program ends early: signals, faults, exit() in a plugin, and readers that leave.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/context.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace wormcube::cli {

/// A crash.
struct CrashInProgram {
  std::string_view where;              ///< "rank 2, after MPI_Barrier: ", or nothing
  std::string_view what;               ///< "segmentation fault"
  std::optional<const void*> address;  ///< that could not be accessed
  const void* code;                    ///< the instruction; null: unknown
};
/// The words for such crashes from now on; null: the usual ones. The function is ordinary code on
/// another thread than the one that crashed, which waits meanwhile.
void describe_crashes_with(std::string (*describe)(const CrashInProgram& crash));

/// While one exists, the program reports what ends it, from outside or within, and what it was
/// doing, and keeps finished results. Signals end it with 128 + signal; those that leave a core
/// dump, and faults, end it by the signal itself. SIGKILL and real-time signals keep their default
/// action. A closed pipe and a file that grew too large are write errors.
class SignalExit {
 public:
  explicit SignalExit(Context& context);
  /// Everything is reported: later signals change nothing, and report nothing. \return  the exit
  /// code: instead of 0, 128 + SIGPIPE if standard output is a pipe without a reader
  static int conclude(int code);
  ~SignalExit();
  SignalExit(const SignalExit&) = delete;
  SignalExit& operator=(const SignalExit&) = delete;
};

}  // namespace wormcube::cli
