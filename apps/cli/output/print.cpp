// Standard output and standard error.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/output/print.hpp"

#include "wormcube/apps/cli/progress.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

std::atomic<int> first_output_error{0};

void note_output_error() {
  int none = 0;
  first_output_error.compare_exchange_strong(none, errno != 0 ? errno : EIO);
}

/// The bytes of the character that starts a text; 0: it is no UTF-8, or a control character.
std::size_t shown_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return byte(0) >= 0x20 && byte(0) != 0x7f ? 1 : 0;
  const std::size_t bytes = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : byte(0) >= 0xc2 ? 2 : 0;
  if (bytes == 0 || byte(0) > 0xf4 || text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return byte(0) == 0xc2 && byte(1) < 0xa0 ? 0 : bytes;
}

}  // namespace

std::string cleaned(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const bool white = text.front() == '\n' || text.front() == '\t';
    const std::size_t bytes = white ? 1 : shown_bytes(text);
    if (bytes > 0) {
      clean += text.substr(0, bytes);
    } else {
      clean += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    }
    text.remove_prefix(bytes > 0 ? bytes : 1);
  }
  return clean;
}

void print_data(std::string_view data) {
  const auto alone = Progress::pause();
  errno = 0;
  if (std::fwrite(data.data(), 1, data.size(), stdout) < data.size()) note_output_error();
}

void print(std::string_view text) { print_data(cleaned(text)); }

void flush_output() {
  errno = 0;
  if (std::fflush(stdout) != 0) note_output_error();
}

int output_error() { return first_output_error; }

void begin_output() {
  first_output_error = 0;
  std::clearerr(stdout);
}

namespace {

/// Words of an argument that is no argument: a part of them is enough.
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
  const auto alone = Progress::pause();
  fmt::print(stderr, "wormcube: {}\n", with_short_words(cleaned(text)));
}

}  // namespace wormcube::cli
