// Progress of a long command.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/output/progress.hpp"

#include "wormcube/runtime/base/host/print_error.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <system_error>
#include <utility>

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace wormcube::cli {

namespace {

using namespace std::chrono_literals;

constexpr const char* take_away = "\r\033[K";

void print_if_any(const std::string& text) {
  if (!text.empty()) print_error(text);
}

/// A terminal that can erase a line.
bool is_terminal() {
  const char* const kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && kind != nullptr && *kind != '\0' &&
         std::string_view(kind) != "dumb";
}

/// 0: no terminal.
std::size_t terminal_columns() {
  if (!is_terminal()) return 0;
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

ProgressLine::Timing timing() {
  ProgressLine::Timing timing;
  if (!is_terminal()) timing = ProgressLine::in_a_file();
  const char* const after = std::getenv("WORMCUBE_PROGRESS_AFTER");
  if (after == nullptr) return timing;
  const double seconds = std::clamp(std::strtod(after, nullptr), 0.0, 1e6);
  timing.patience = std::chrono::milliseconds(static_cast<long>(seconds * 1000));
  timing.interval = std::min(timing.interval, timing.patience);
  if (!is_terminal()) timing.interval = std::max<std::chrono::milliseconds>(timing.interval, 1s);
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

void ProgressLine::part(double done) { part_ = done; }

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
  text += loop_;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - start_).count();
  if (seconds > 0) text += fmt::format(", {} s", seconds);
  if (seconds > 0 && part_ > 0 && part_ < 1) {
    text +=
        fmt::format(", about {:.0f} s left", static_cast<double>(seconds) * (1 - part_) / part_);
  }
  if (columns_ == 0) return fmt::format("wormcube: {}\n", text);
  if (text.size() >= columns_) text.resize(std::max<std::size_t>(columns_, 1) - 1);
  return take_away + text;
}

void ProgressLine::loop(const std::optional<LongLoop::State>& state) {
  loop_.clear();
  if (!state) return;
  const auto& [what, done, total] = *state;
  loop_ = total > 0 ? fmt::format(", {} {} %", what, 100 * std::min(done, total) / total)
                    : fmt::format(", {}, step {}", what, done);
}

std::string ProgressLine::clear() {
  return columns_ > 0 && std::exchange(shown_, false) ? take_away : "";
}

Progress::Progress(const Context& context, const OutputOptions& options, std::string what)
    : shown_(!options.quiet && context.is_first_process()),
      line_(std::move(what), ProgressLine::Clock::now(), timing(), terminal_columns()),
      timing_(timing()) {
  if (!shown_) return;
  const auto lock = Terminal::take();
  outer_ = Terminal::show(this);
  show();
  if (outer_ != nullptr) return;
  try {
    ticker_ = std::thread([this] {
      std::unique_lock ticking = Terminal::take();
      while (
          !end_.wait_for(ticking, std::max(timing_.interval, 100ms), [this] { return ended_; })) {
        if (Terminal::Line* const innermost = Terminal::shown()) innermost->show();
      }
    });
  } catch (const std::system_error&) {
    // No thread is available: the line changes when the command reports something.
  }
}

Progress::~Progress() {
  if (!shown_) return;
  {
    const auto lock = Terminal::take();
    print_if_any(line_.clear());
    if (Terminal::shown() == this) Terminal::show(outer_);
    ended_ = true;
  }
  end_.notify_all();
  if (ticker_.joinable()) ticker_.join();
}

void Progress::show() {
  if (Terminal::shown() != this) return;
  line_.loop(LongLoop::now());
  print_if_any(line_.update(ProgressLine::Clock::now()));
}

void Progress::doing(std::string_view phase) {
  if (!shown_) return;
  const auto lock = Terminal::take();
  line_.doing(phase);
  show();
}

void Progress::operator()(long done, long total) {
  if (!shown_) return;
  const auto lock = Terminal::take();
  line_.count(done, total);
  show();
}

void Progress::part(double done) {
  if (!shown_) return;
  const auto lock = Terminal::take();
  line_.part(done);
}

RowsDone::RowsDone(Progress& progress, std::vector<double> work)
    : progress_(progress),
      work_(std::move(work)),
      sum_(std::accumulate(work_.begin(), work_.end(), 0.0)) {}

void RowsDone::add() {
  if (rows_ < work_.size()) done_ += work_[rows_++];
  progress_(static_cast<long>(rows_), static_cast<long>(work_.size()));
  progress_.part(sum_ > 0 ? done_ / sum_ : 0);
}

}  // namespace wormcube::cli
