// A time limit for what this thread does itself: dry runs, proofs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/schedule/dry_run_limit.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace wormcube::cli {

/// While one of these lives, dry runs and proofs that take longer throw TimeLimit at their next step. A
/// second later the program ends (end_over_time_limit), if it still lives: a program loops between steps.
class TimeLimited {
 public:
  /// \param limit  0: none
  explicit TimeLimited(std::chrono::milliseconds limit);
  ~TimeLimited();
  TimeLimited(const TimeLimited&) = delete;
  TimeLimited& operator=(const TimeLimited&) = delete;

 private:
  DryRunLimit steps_;
  std::mutex mutex_;
  std::condition_variable end_;
  bool ended_ = false;
  std::thread watch_;
};

/// Keeps what was finished, says what was over its limit, and ends the program with exit code 4.
[[noreturn]] void end_over_time_limit(const std::string& text);

}  // namespace wormcube::cli
