// Standard output and standard error.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/core/print.hpp"

#include "wormcube/runtime/base/host/print_error.hpp"
#include "wormcube/runtime/base/text.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

std::atomic<int> first_output_error{0};
std::mutex terminal;                      // guards the members below, and every line
Terminal::Line* progress_line = nullptr;  // the line that may be shown

/// Erases the line and keeps it erased while the lock is held, so that other text can be printed.
std::unique_lock<std::mutex> take_without_line() {
  std::unique_lock lock(terminal);
  if (progress_line != nullptr) {
    if (const std::string text = progress_line->clear(); !text.empty()) print_error(text);
  }
  return lock;
}

void note_output_error() {
  int none = 0;
  first_output_error.compare_exchange_strong(none, errno != 0 ? errno : EIO);
}

}  // namespace

std::unique_lock<std::mutex> Terminal::take() { return std::unique_lock(terminal); }
Terminal::Line* Terminal::show(Line* line) { return std::exchange(progress_line, line); }
Terminal::Line* Terminal::shown() { return progress_line; }

std::string cleaned(std::string_view text) { return printable(text, "\n\t"); }

void print_data(std::string_view data) {
  const auto alone = take_without_line();
  errno = 0;
  if (std::fwrite(data.data(), 1, data.size(), stdout) < data.size()) note_output_error();
}

void print(std::string_view text) { print_data(cleaned(text)); }

void flush_output() {
  errno = 0;
  if (std::fflush(stdout) != 0) note_output_error();
}

int output_error() { return first_output_error; }

std::string output_failure() {
  const int error = first_output_error;
  if (error == 0 || error == EPIPE) return {};
  return fmt::format("cannot write to standard output: {}", std::strerror(error));
}

void begin_output() {
  first_output_error = 0;
  std::clearerr(stdout);
}

namespace {

/// A wrong argument may be long: a part of it is enough.
std::string with_short_words(std::string_view text) {
  constexpr std::size_t most = 300;
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    out += text.substr(0, std::min(end, most));
    if (end > most) out += fmt::format("..({} more characters)", end - most);
    const std::size_t next = std::min(end + 1, text.size());
    out += text.substr(end, next - end);
    text.remove_prefix(next);
  }
  return out;
}

}  // namespace

void complain(std::string_view text) {
  flush_output();
  const auto alone = take_without_line();
  print_error(fmt::format("wormcube: {}\n", with_short_words(cleaned(text))));
}

}  // namespace wormcube::cli
