// Time limits for this process's own work: choosing, dry runs, proofs, replays.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/context.hpp"
#include "wormcube/runtime/schedule/dry_run_limit.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace wormcube::cli {

/// Ends the program (end_over_time_limit) if it still exists after the limit: for a whole command.
class CommandLimit {
 public:
  /// \param limit  0: none
  /// \param grace  for work that ends by itself at the limit
  CommandLimit(Context& context, std::chrono::milliseconds limit,
               std::chrono::milliseconds grace = {});
  ~CommandLimit();
  CommandLimit(const CommandLimit&) = delete;
  CommandLimit& operator=(const CommandLimit&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable end_;
  bool ended_ = false;
  std::thread watch_;
};

/// While one of these exists, dry runs and proofs over the limit throw TimeLimit at their next
/// step: for a row, after which the next one begins. Work without steps ends the program a second
/// later.
class TimeLimited {
 public:
  /// \param limit  0: none
  TimeLimited(Context& context, std::chrono::milliseconds limit)
      : steps_(limit), command_(context, limit, std::chrono::seconds{1}) {}

 private:
  DryRunLimit steps_;
  CommandLimit command_;
};

/// Keeps finished results, reports the work over its limit, and ends the program with exit code 4.
[[noreturn]] void end_over_time_limit(Context& context, const std::string& text);

}  // namespace wormcube::cli
