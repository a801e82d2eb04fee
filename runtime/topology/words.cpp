// Lists of names, and the nearest one by edit distance.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/topology/words.hpp"

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

}  // namespace wormcube
