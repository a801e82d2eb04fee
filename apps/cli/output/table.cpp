// Tables and '#' lines.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/output/table.hpp"

#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <sstream>

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace wormcube::cli {

namespace {

/// The number of characters in a UTF-8 text.
std::size_t width(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

std::string pad(std::string_view text, std::size_t columns, bool left) {
  const std::string blanks(columns - std::min(columns, width(text)), ' ');
  return left ? std::string(text) + blanks : blanks + std::string(text);
}

/// The offset of character number `count`; the size if there are fewer.
std::size_t byte_of(std::string_view text, std::size_t count) {
  std::size_t bytes = 0;
  for (std::size_t seen = 0; bytes < text.size(); ++bytes) {
    if ((text[bytes] & 0xC0) == 0x80) continue;
    if (seen++ == count) break;
  }
  return bytes;
}

/// A text that does not fit ends with ".."; a name keeps both ends.
std::string cut(const std::string& text, std::size_t columns, bool is_name) {
  const std::size_t whole = width(text);
  if (whole <= columns) return text;
  const std::size_t left = columns < 2 ? 0 : columns - 2, behind = is_name ? left / 2 : 0;
  return text.substr(0, byte_of(text, left - behind)) + ".." +
         text.substr(byte_of(text, whole - behind));
}

/// A head as printed above its column: words on separate lines if they would make it wide, the unit
/// below.
std::vector<std::string> head_lines(const Table::Column& column) {
  std::vector<std::string> words, lines;
  std::istringstream text(column.head);
  for (std::string word; text >> word;) words.push_back(word);
  constexpr std::size_t least = 8;  // so that a head does not become a tower
  std::size_t most = std::max(column.width, least);
  for (const std::string& word : words) most = std::max(most, width(word));
  for (const std::string& word : words) {
    if (lines.empty() || width(lines.back()) + 1 + width(word) > most) {
      lines.push_back(word);
    } else {
      lines.back() += ' ' + word;
    }
  }
  if (!column.unit.empty()) lines.push_back('(' + column.unit + ')');
  return lines;
}

}  // namespace

Table::Style Table::style(const OutputOptions& options) {
  return {.wide = options.wide, .color = options.uses_color()};
}

void Table::add(std::vector<std::string> cells, bool winner) {
  WORMCUBE_ASSERT(cells.size() == columns_.size());
  for (std::string& cell : cells) cell = cleaned(cell);
  rows_.push_back(std::move(cells));
  winners_.push_back(winner);
}

std::size_t Table::least_width(std::size_t column) const {
  const Column& of = columns_[column];
  if (!of.is_name) return of.cut;
  std::set<std::string> names(of.names.begin(), of.names.end());
  for (const auto& row : rows_) names.insert(row[column]);
  for (std::size_t columns = of.cut;; ++columns) {
    std::set<std::string> cuts;
    for (const std::string& name : names) cuts.insert(cut(name, columns, true));
    if (cuts.size() == names.size()) return columns;
  }
}

Table::Layout Table::layout(const Style& style) const {
  const std::size_t most = style.most;
  Layout layout;
  std::size_t line = 0;  // the two characters of the mark, and two blanks between columns
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = columns_[c];
    std::size_t widest = column.width;
    for (const std::string& head : head_lines(column)) widest = std::max(widest, width(head));
    for (const auto& row : rows_) widest = std::max(widest, width(row[c]));
    for (const std::string& name : column.names) widest = std::max(widest, width(name));
    layout.widths.push_back(widest);
    layout.shown.push_back(style.wide || !column.wide);
    if (layout.shown.back()) line += 2 + widest;
  }
  if (style.wide || line <= most) return layout;
  for (int drop = 0;;) {
    std::size_t next = columns_.size();
    drop = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!layout.shown[c] || columns_[c].drop <= drop) continue;
      drop = columns_[c].drop;
      next = c;
    }
    if (line <= most || next == columns_.size()) break;
    layout.shown[next] = false;
    line -= 2 + layout.widths[next];
  }
  std::vector<std::size_t> least;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const bool may = line > most && columns_[c].cut > 0 && layout.shown[c];
    least.push_back(may ? std::min(least_width(c), layout.widths[c]) : layout.widths[c]);
  }
  for (; line > most; --line) {
    // The column with most room to spare gives up a character.
    std::size_t spare = 0, from = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (layout.widths[c] - least[c] <= spare) continue;
      spare = layout.widths[c] - least[c];
      from = c;
    }
    if (spare == 0) break;
    --layout.widths[from];
  }
  return layout;
}

template <class CellOf>
std::string Table::line(const char* start, const Layout& layout, const CellOf& cell_of) const {
  std::string out;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (layout.shown[c]) out += (out.empty() ? "" : "  ") + cell_of(c);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return start + out + '\n';
}

std::string Table::row_line(const std::vector<std::string>& cells, const Layout& layout, bool color,
                            bool winner) const {
  return line("  ", layout, [&](std::size_t c) {
    const Column& column = columns_[c];
    const std::size_t width = layout.widths[c];
    const std::string cell = column.cut > 0 ? cut(cells[c], width, column.is_name) : cells[c];
    std::string padded = pad(cell, width, column.text);
    if (!color) return padded;
    static const std::set<std::string> harmless = {"0", "yes", "-", "?"};
    if (column.verdict && !harmless.contains(cell)) return "\x1b[1;31m" + padded + "\x1b[0m";
    if (column.answer && winner) return "\x1b[1;32m" + padded + "\x1b[0m";
    return padded;
  });
}

std::string Table::heads_text(const Style& style) const {
  const Layout layout = this->layout(style);
  std::vector<std::vector<std::string>> heads;
  std::size_t lines = 1;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    heads.push_back(head_lines(columns_[c]));
    if (layout.shown[c]) lines = std::max(lines, heads.back().size());
  }
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    text += line("# ", layout, [&](std::size_t c) {
      return pad(i < heads[c].size() ? heads[c][i] : "", layout.widths[c], columns_[c].text);
    });
  }
  return text;
}

std::string Table::row_text(const std::vector<std::string>& cells, const Style& style) const {
  WORMCUBE_ASSERT(cells.size() == columns_.size());
  std::vector<std::string> clean;
  for (const std::string& cell : cells) clean.push_back(cleaned(cell));
  return row_line(clean, layout(style), style.color, false);
}

std::string Table::left_out(const Style& style) const {
  const Layout layout = this->layout(style);
  std::string names;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (layout.shown[c] || columns_[c].wide) continue;
    names += (names.empty() ? "" : ", ") + columns_[c].head;
  }
  return names.empty() ? names
                       : fmt::format("not shown at this width: {}; --wide shows all", names);
}

std::string Table::text(const Style& style) const {
  const Layout layout = this->layout(style);
  std::string text = heads_text(style);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    text += row_line(rows_[i], layout, style.color, winners_[i]);
  }
  return text;
}

namespace {

/// The terminal's width; 0: standard output is no terminal.
std::size_t terminal_width() {
  winsize size{};
  const bool is_terminal = isatty(STDOUT_FILENO) == 1;
  return is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

constexpr std::size_t usual_width = 100, least_width = 40;

}  // namespace

std::size_t table_width() {
  const std::size_t width = terminal_width();
  return width == 0 ? usual_width : std::max(width, cli::least_width);
}

std::size_t line_width() { return std::min(table_width(), usual_width); }

std::string filled(std::string_view text, std::string_view first, std::string_view next) {
  const std::size_t most = line_width();
  std::string lines, line(first);
  bool empty = true;  // except for its start
  for (std::size_t blanks = 0; (blanks = text.find_first_not_of(' ')) != text.npos;) {
    const std::string_view word =
        text.substr(0, text.find(' ', blanks));  // including blanks before it
    text.remove_prefix(word.size());
    if (!empty && width(line) + width(word) > most) {
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
  print(filled(value, first, next));
}

void print_note(const OutputOptions& options, std::string_view text) {
  if (!options.notes()) return;
  print(filled(text, "# ", "#   "));
}

void print_table(const OutputOptions& options, const Table& table) {
  if (!options.text()) return;
  const Table::Style style = Table::style(options);
  print_data(table.text(style));  // its cells are clean
  if (const std::string note = table.left_out(style); !note.empty()) print_note(options, note);
}

std::string cell(double value) { return count_text(value); }
std::string cell(const std::optional<double>& value) { return value ? cell(*value) : "-"; }
std::string cell(const std::optional<bool>& value) { return !value ? "?" : *value ? "yes" : "no"; }

std::string cell_rate(const std::optional<double>& value) {
  return value ? figure_text(*value) : "-";
}

std::string cell_error(double value) {
  constexpr double half_epsilon = std::numeric_limits<double>::epsilon() / 2;
  if (value == 0) return "0";
  return value < half_epsilon ? "< 1.1e-16" : fmt::format("{:.2e}", value);
}

}  // namespace wormcube::cli
