// Progress of a long command: one line on a terminal, a line every ten seconds elsewhere.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/context.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/runtime/schedule/long_loop.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace wormcube::cli {

/// The line's text and when it is due. It has no clock and no terminal: tests pass the time.
class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;
  struct Timing {
    std::chrono::milliseconds patience{1000};  // nothing is shown before
    std::chrono::milliseconds interval{200};   // the least between two texts
  };
  static Timing in_a_file() { return {std::chrono::seconds{10}, std::chrono::seconds{10}}; }

  /// \param what     "fft on torus:8x8"
  /// \param columns  of the terminal; the line is cut to fit. 0: no terminal, each text a line
  ProgressLine(std::string what, Clock::time_point start, Timing timing, std::size_t columns);
  /// Sets the current phase, "dry run", and restarts its count.
  void doing(std::string_view phase);
  void count(long done, long total);
  /// The fraction of all work that is done, to estimate the remaining time.
  void part(double done);
  /// The progress of a long loop: "dry run, 37 %".
  void loop(const std::optional<LongLoop::State>& state);
  /// The text to write now; empty if nothing is due.
  std::string update(Clock::time_point now);
  /// The text that erases the line; empty if none is shown.
  std::string clear();

 private:
  std::string what_, phase_, loop_;
  long done_ = 0, total_ = 0;
  double part_ = 0;
  Clock::time_point start_, last_;
  Timing timing_;
  std::size_t columns_;
  bool shown_ = false;
};

/// A ProgressLine on standard error, after a second of work on a terminal, else after ten; the
/// outermost one's thread counts the seconds. $WORMCUBE_PROGRESS_AFTER changes the delay. Shows nothing with
/// --quiet.
///
/// Threads  Any thread may report something.
class Progress final : Terminal::Line {
 public:
  Progress(const Context& context, const OutputOptions& options, std::string what);
  ~Progress() override;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void doing(std::string_view phase);
  void operator()(long done, long total);
  void part(double done);

 private:
  std::string clear() override { return line_.clear(); }
  void show() override;

  bool shown_;
  ProgressLine line_;
  ProgressLine::Timing timing_;
  bool ended_ = false;
  Terminal::Line* outer_ = nullptr;  // shown again after this one
  std::condition_variable end_;
  std::thread ticker_;
};

/// Rows made one after the other, shown by their number and by the fraction of all work.
class RowsDone {
 public:
  /// \param work  of each row, in any unit
  RowsDone(Progress& progress, std::vector<double> work);
  /// One more row is done.
  void add();

 private:
  Progress& progress_;
  std::vector<double> work_;
  double sum_, done_ = 0;
  std::size_t rows_ = 0;
};

}  // namespace wormcube::cli
