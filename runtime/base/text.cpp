// Lists of names, the nearest one by edit distance, and characters that can be shown.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/text.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// Levenshtein's distance: insertions, deletions and replacements.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

/// The size in bytes of the character that starts a text; 0: it is not UTF-8, or a control
/// character, or one that XML does not allow.
std::size_t shown_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (bytes == 0 || text.size() < bytes) return 0;
  constexpr unsigned payload[] = {0, 0, 0x1f, 0x0f, 0x07}, least[] = {0, 0, 0xa0, 0x800, 0x10000};
  unsigned character = first & payload[bytes];
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    character = character << 6 | (byte(i) & 0x3f);
  }
  const bool is_surrogate = character >= 0xd800 && character < 0xe000;
  const bool is_none = (character & 0xfffe) == 0xfffe || character > 0x10ffff;
  return character < least[bytes] || is_surrogate || is_none ? 0 : bytes;
}

}  // namespace

std::string listed(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text.append(" ").append(name);
  return text;
}

std::string did_you_mean(std::string_view text, std::span<const std::string_view> names,
                         std::string_view before) {
  constexpr std::size_t longest = 64;
  if (text.empty() || text.size() > longest) return {};
  const auto nearest = std::ranges::min_element(
      names, {}, [&](std::string_view name) { return distance(text, name); });
  if (nearest == names.end() || distance(text, *nearest) > (text.size() + 1) / 3) return {};
  return fmt::format(" (did you mean '{}{}'?)", before, *nearest);
}

std::string printable(std::string_view text, std::string_view kept) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes =
        kept.find(text.front()) != std::string_view::npos ? 1 : shown_bytes(text);
    if (bytes > 0) {
      clean += text.substr(0, bytes);
    } else {
      clean += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    }
    text.remove_prefix(bytes > 0 ? bytes : 1);
  }
  return clean;
}

std::string shown(std::string_view text, std::size_t most) {
  std::string out;
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + (text.size() > most ? "..." : "");
}

}  // namespace wormcube
