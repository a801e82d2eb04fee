// What the readers of schedules' texts share: lines without comments, and the words of a line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/text.hpp"  // IWYU pragma: export
#include "wormcube/runtime/schedule/text_words.hpp"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

namespace wormcube {

/// Reads a text line by line, word by word. `#` starts a comment, blanks mean nothing.
class LineReader {
 public:
  LineReader(std::string_view text, std::string_view name, double most_bytes)
      : rest_(text), name_(name), most_bytes_(most_bytes) {}

 protected:
  /// Throws UsageError with the file and the line.
  [[noreturn]] void fail(std::string_view what) const { fail_at(number_, what); }
  [[noreturn]] void fail_at(std::size_t line, std::string_view what) const {
    throw UsageError(fmt::format("{}:{}: {}", name_, line, what));
  }

  /// The next line with content, without surrounding blanks and comments; an empty one at the end.
  void next_line() {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      line_ = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++number_;
      line_ = line_.substr(0, line_.find('#'));
      skip_blanks();
      while (!line_.empty() && is_blank(line_.back())) line_.remove_suffix(1);
      if (!line_.empty()) return;
    }
    line_ = {};
  }
  /// At the first line.
  void require_content() const {
    if (!line_.empty()) return;
    throw UsageError(fmt::format("{}: empty, or only comments; a schedule begins with '{}' or '{}'",
                                 name_, named_schedule_first_line, schedule_first_line));
  }
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

  // Words of a line, removed from its start.

  void skip_blanks() {
    while (!line_.empty() && is_blank(line_.front())) line_.remove_prefix(1);
  }
  bool accept(char wanted) {
    skip_blanks();
    if (line_.empty() || line_.front() != wanted) return false;
    line_.remove_prefix(1);
    return true;
  }
  /// The next word, up to a blank, a comma or a colon.
  std::string_view peek() {
    skip_blanks();
    return line_.substr(0, std::min(line_.find_first_of(" \t\r,:"), line_.size()));
  }
  bool accept(std::string_view wanted) {
    if (peek() != wanted) return false;
    line_.remove_prefix(wanted.size());
    return true;
  }
  void expect(std::string_view wanted) {
    if (!accept(wanted)) fail(fmt::format("'{}' expected before '{}'", wanted, shown(line_)));
  }
  void expect_end() {
    skip_blanks();
    if (!line_.empty()) fail(fmt::format("unexpected '{}' at the end of the line", shown(line_)));
  }
  template <std::integral T>
  T number(std::string_view what) {
    skip_blanks();
    T value{};
    const auto [end, error] = std::from_chars(line_.data(), line_.data() + line_.size(), value);
    if (error == std::errc::result_out_of_range)
      fail(fmt::format("{} '{}' is too large", what, shown(peek())));
    if (error != std::errc{}) fail(fmt::format("{} expected before '{}'", what, shown(line_)));
    line_.remove_prefix(static_cast<std::size_t>(end - line_.data()));
    return value;
  }

  /// A number of bytes.
  Bytes byte_count() {
    skip_blanks();
    if (line_.starts_with('-'))
      fail(fmt::format("a number of bytes expected before '{}'", shown(line_)));
    const auto bytes = number<Bytes>("a number of bytes");
    if (bytes > most_bytes_in_text)
      fail(fmt::format("{} bytes; a schedule can name up to {}", bytes, most_bytes_in_text));
    return bytes;
  }

  /// Counts memory that the schedule will take; refuses more than the limit.
  void charge(double bytes) {
    bytes_ += bytes;
    if (bytes_ > most_bytes_) {
      constexpr double mebibyte = 1024.0 * 1024;
      fail(fmt::format("the schedule would take more than {:.0f} MiB of memory",
                       most_bytes_ / mebibyte));
    }
  }

  std::string_view rest_, line_;
  std::string_view name_;
  std::size_t number_ = 0;

 private:
  double bytes_ = 0, most_bytes_;
};

}  // namespace wormcube
