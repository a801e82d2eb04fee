// One line on a terminal that says what takes so long.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/output/files.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace wormcube::cli {

/// The line's text and when it is due. No clock and no terminal of its own: tests give the time.
class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;
  struct Timing {
    std::chrono::milliseconds patience{1000};  // nothing is shown before
    std::chrono::milliseconds interval{200};   // the least between two texts
  };

  /// \param what     "fft on torus:8x8"
  /// \param columns  of the terminal; the line is cut to fit
  ProgressLine(std::string what, Clock::time_point start, Timing timing, std::size_t columns);
  /// What is done now, in place of what was: "dry run". Its count starts anew.
  void doing(std::string_view phase);
  void count(long done, long total);
  /// What the terminal gets now; empty if nothing is due.
  std::string update(Clock::time_point now);
  /// What takes the line away; empty if none is shown.
  std::string clear();

 private:
  std::string what_, phase_;
  long done_ = 0, total_ = 0;
  Clock::time_point start_, last_;
  Timing timing_;
  std::size_t columns_;
  bool shown_ = false;
};

/// A ProgressLine on standard error, where that is a terminal, after a second of work; while nothing
/// is told, a thread of its own counts the seconds. $WORMCUBE_PROGRESS_AFTER gives other seconds.
///
/// Threads  any may tell it something, and any may pause it; whoever holds the pause takes no other
///          lock.
class Progress {
 public:
  Progress(const OutputOptions& options, std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void doing(std::string_view phase);
  void operator()(long done, long total);

  /// Takes the line away and keeps it away while the lock is held: for whatever else is printed.
  [[nodiscard]] static std::unique_lock<std::mutex> pause();

 private:
  void show();

  bool shown_;  // on a terminal
  ProgressLine line_;
  ProgressLine::Timing timing_;
  bool ended_ = false;
  std::condition_variable end_;
  std::thread ticker_;
};

}  // namespace wormcube::cli
