// Tables and '#' lines.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/output/table.hpp"

#include "wormcube/apps/cli/progress.hpp"
#include "wormcube/runtime/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

/// The number of characters that a UTF-8 text shows.
std::size_t width(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

std::string pad(std::string_view text, std::size_t columns, bool left) {
  const std::string blanks(columns - std::min(columns, width(text)), ' ');
  return left ? std::string(text) + blanks : blanks + std::string(text);
}

/// A text that does not fit ends with "..".
std::string cut(std::string text, std::size_t columns) {
  if (width(text) <= columns) return text;
  std::size_t bytes = 0;
  for (std::size_t shown = 0; shown + 2 <= columns; ++bytes) {
    if ((text[bytes] & 0xC0) != 0x80) ++shown;
  }
  return text.substr(0, bytes == 0 ? 0 : bytes - 1) + "..";
}

std::string unit_text(const Table::Column& column) {
  return column.unit.empty() ? std::string() : "(" + column.unit + ")";
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  WORMCUBE_ASSERT(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths(bool wide) const {
  std::vector<std::size_t> widths;
  std::size_t line = 0;  // the mark of two characters, and two blanks between columns
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = columns_[c];
    std::size_t most = std::max({width(column.head), width(unit_text(column)), column.width});
    for (const auto& row : rows_) most = std::max(most, width(row[c]));
    widths.push_back(most);
    if (wide || !column.wide) line += 2 + most;
  }
  for (; !wide && line > line_width; --line) {
    // The one with most to spare gives a character.
    std::size_t most = 0, from = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::size_t cut = columns_[c].cut;
      if (cut == 0 || widths[c] <= cut || widths[c] - cut <= most) continue;
      most = widths[c] - cut;
      from = c;
    }
    if (most == 0) break;
    --widths[from];
  }
  return widths;
}

template <class CellOf>
std::string Table::line(const char* start, const std::vector<std::size_t>& widths, bool wide,
                        const CellOf& cell_of) const {
  std::string out;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].wide && !wide) continue;
    const std::string cell = columns_[c].cut > 0 ? cut(cell_of(c), widths[c]) : cell_of(c);
    out += (out.empty() ? "" : "  ") + pad(cell, widths[c], columns_[c].text);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return start + out + '\n';
}

std::string Table::heads_text(bool wide) const {
  const auto widths = this->widths(wide);
  std::string text = line("# ", widths, wide, [&](std::size_t c) { return columns_[c].head; });
  const auto shown = [&](const Column& column) {
    return !column.unit.empty() && (wide || !column.wide);
  };
  if (std::ranges::any_of(columns_, shown)) {
    text += line("# ", widths, wide, [&](std::size_t c) { return unit_text(columns_[c]); });
  }
  return text;
}

std::string Table::row_text(const std::vector<std::string>& cells, bool wide) const {
  WORMCUBE_ASSERT(cells.size() == columns_.size());
  return line("  ", widths(wide), wide, [&](std::size_t c) { return cells[c]; });
}

std::string Table::text(bool wide) const {
  const auto widths = this->widths(wide);
  std::string text = heads_text(wide);
  for (const auto& row : rows_) {
    text += line("  ", widths, wide, [&](std::size_t c) { return row[c]; });
  }
  return text;
}

std::string filled(std::string_view text, std::string_view first, std::string_view next) {
  std::string lines, line(first);
  bool empty = true;  // but for its start
  for (std::size_t blanks = 0; (blanks = text.find_first_not_of(' ')) != text.npos;) {
    const std::string_view word = text.substr(0, text.find(' ', blanks));  // blanks before it too
    text.remove_prefix(word.size());
    if (!empty && width(line) + width(word) > line_width) {
      lines += line + '\n';
      line = next;
      line += word.substr(blanks);
    } else {
      line += word;
    }
    empty = false;
  }
  return lines + line + '\n';
}

void print_setting(const OutputOptions& options, std::string_view name, std::string_view value) {
  if (options.notes()) print_fact(options, name, value);
}

void print_fact(const OutputOptions& options, std::string_view name, std::string_view value) {
  if (!options.text()) return;
  const std::string first = fmt::format("# {:<16} ", name), next = fmt::format("# {:<16} ", "");
  const auto alone = Progress::pause();
  fmt::print("{}", filled(value, first, next));
}

void print_note(const OutputOptions& options, std::string_view text) {
  if (!options.notes()) return;
  const auto alone = Progress::pause();
  fmt::print("{}", filled(text, "# ", "#   "));
}

void print_table(const OutputOptions& options, const Table& table) {
  if (!options.text()) return;
  const auto alone = Progress::pause();
  fmt::print("{}", table.text(options.wide));
}

std::string cell(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                              : cell_rate(value);
}
std::string cell(const std::optional<double>& value) { return value ? cell(*value) : "-"; }
std::string cell(const std::optional<bool>& value) { return !value ? "?" : *value ? "yes" : "no"; }

std::string cell_rate(const std::optional<double>& value) {
  if (!value) return "-";
  if (*value == 0 || !std::isfinite(*value)) return fmt::format("{}", *value);
  // Rounded first: 9999.6 is 10000, which needs no decimal.
  const double rounded = std::stod(fmt::format("{:.3e}", *value));
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(rounded))));
  return exponent < -4 ? fmt::format("{:.3e}", rounded)
                       : fmt::format("{:.{}f}", rounded, std::max(0, 3 - exponent));
}

std::string cell_error(double value) {
  constexpr double half_epsilon = std::numeric_limits<double>::epsilon() / 2;
  if (value == 0) return "0";
  return value < half_epsilon ? "< 1.1e-16" : fmt::format("{:.2e}", value);
}

std::string bytes_text(double bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return bytes == std::floor(bytes) ? fmt::format("{:.0f} {}", bytes, units[unit])
                                    : fmt::format("{:.2f} {}", bytes, units[unit]);
}

}  // namespace wormcube::cli
