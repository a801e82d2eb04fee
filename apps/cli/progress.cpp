// One line on a terminal that says what takes so long.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/progress.hpp"

#include "wormcube/apps/cli/cluster.hpp"
#include "wormcube/runtime/host/print_error.hpp"

#include <algorithm>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace wormcube::cli {

namespace {

using namespace std::chrono_literals;

constexpr const char* take_away = "\r\033[K";

std::mutex terminal;                   // guards what follows, and every line
Progress* current_progress = nullptr;  // the one whose line may be shown

void put(const std::string& text) {
  if (!text.empty()) print_error(text);
}

/// A terminal that can take a line away.
bool is_terminal() {
  const char* const kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && kind != nullptr && *kind != '\0' &&
         std::string_view(kind) != "dumb";
}

std::size_t terminal_columns() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

ProgressLine::Timing timing() {
  ProgressLine::Timing timing;
  const char* const after = std::getenv("WORMCUBE_PROGRESS_AFTER");
  if (after == nullptr) return timing;
  const double seconds = std::clamp(std::strtod(after, nullptr), 0.0, 1e6);
  timing.patience = std::chrono::milliseconds(static_cast<long>(seconds * 1000));
  timing.interval = std::min(timing.interval, timing.patience);
  return timing;
}

}  // namespace

ProgressLine::ProgressLine(std::string what, Clock::time_point start, Timing timing,
                           std::size_t columns)
    : what_(std::move(what)), start_(start), last_(start), timing_(timing), columns_(columns) {}

void ProgressLine::doing(std::string_view phase) {
  phase_ = phase;
  done_ = total_ = 0;
}

void ProgressLine::count(long done, long total) {
  done_ = done;
  total_ = total;
}

std::string ProgressLine::update(Clock::time_point now) {
  if (now - start_ < timing_.patience || (shown_ && now - last_ < timing_.interval)) return {};
  shown_ = true;
  last_ = now;
  std::string text = what_;
  if (!phase_.empty()) text += ": " + phase_;
  if (total_ > 0) text += fmt::format(", {} of {}", done_, total_);
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - start_).count();
  if (seconds > 0) text += fmt::format(", {} s", seconds);
  if (text.size() >= columns_) text.resize(std::max<std::size_t>(columns_, 1) - 1);
  return take_away + text;
}

std::string ProgressLine::clear() { return std::exchange(shown_, false) ? take_away : ""; }

Progress::Progress(const OutputOptions& options, std::string what)
    : shown_(!options.quiet && is_first_process() && is_terminal()),
      line_(std::move(what), ProgressLine::Clock::now(), timing(), terminal_columns()),
      timing_(timing()) {
  if (!shown_) return;
  const std::scoped_lock lock(terminal);
  current_progress = this;
  show();
  try {
    ticker_ = std::thread([this] {
      std::unique_lock ticking(terminal);
      while (
          !end_.wait_for(ticking, std::max(timing_.interval, 100ms), [this] { return ended_; })) {
        show();
      }
    });
  } catch (const std::system_error&) {
    // No thread to spare: the line changes when something is told.
  }
}

Progress::~Progress() {
  if (!shown_) return;
  {
    const std::scoped_lock lock(terminal);
    put(line_.clear());
    current_progress = nullptr;
    ended_ = true;
  }
  end_.notify_all();
  if (ticker_.joinable()) ticker_.join();
}

void Progress::show() {
  if (current_progress == this) put(line_.update(ProgressLine::Clock::now()));
}

void Progress::doing(std::string_view phase) {
  if (!shown_) return;
  const std::scoped_lock lock(terminal);
  line_.doing(phase);
  show();
}

void Progress::operator()(long done, long total) {
  if (!shown_) return;
  const std::scoped_lock lock(terminal);
  line_.count(done, total);
  show();
}

std::unique_lock<std::mutex> Progress::pause() {
  std::unique_lock lock(terminal);
  if (current_progress != nullptr) put(current_progress->line_.clear());
  return lock;
}

}  // namespace wormcube::cli
