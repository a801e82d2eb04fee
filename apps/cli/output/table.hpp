// Results for people: '#' lines, aligned tables, figures as text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/runtime/base/units.hpp"  // IWYU pragma: export

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wormcube::cli {

/// The most characters in a line for people, except in tables with --wide: 100, or the terminal's
/// width if it is less.
std::size_t line_width();

/// Results for people. Settings and column heads start with '#', so every line without '#' is data.
class Table {
 public:
  struct Column {
    std::string head;
    std::string unit = {};  // below the head; empty for counts and names
    bool text = false;      // aligned left
    std::size_t width = 0;  // minimum; also the maximum for rows printed one by one
    bool wide = false;      // shown with --wide only
    std::size_t cut = 0;    // may be cut to this width if the line would be too long; 0: never cut
    // For names: they are cut in the middle, but stay different from each other. For rows printed
    // one by one the names are given here.
    bool is_name = false;
    std::vector<std::string> names = {};
    int drop = 0;  // dropped if the line would be too long, the largest first; 0: never
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// One cell per column.
  void add(std::vector<std::string> cells);
  /// The table with its head. \param most  characters in a line, unless it is wide
  std::string text(bool wide, std::size_t most = line_width()) const;
  /// For rows as they arrive: the heads, and one row, in columns of fixed widths.
  std::string heads_text(bool wide, std::size_t most = line_width()) const;
  std::string row_text(const std::vector<std::string>& cells, bool wide,
                       std::size_t most = line_width()) const;

 private:
  struct Layout {
    std::vector<std::size_t> widths;
    std::vector<bool> shown;
  };
  template <class CellOf>
  std::string line(const char* start, const Layout& layout, const CellOf& cell_of) const;
  Layout layout(bool wide, std::size_t most) const;
  /// The least width of a column at which its names stay different.
  std::size_t least_width(std::size_t column) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Lines of at most line_width() characters, broken at blanks.
/// \param first, next  the start of the first line and of all others
std::string filled(std::string_view text, std::string_view first, std::string_view next);

/// "# name value": a resolved setting.
void print_setting(const OutputOptions& options, std::string_view name, std::string_view value);
/// The same for a result, which --quiet prints too.
void print_fact(const OutputOptions& options, std::string_view name, std::string_view value);
/// "# text"
void print_note(const OutputOptions& options, std::string_view text);
void print_table(const OutputOptions& options, const Table& table);

/// A count or a figure of four significant digits, or "-" if there is none.
std::string cell(const std::optional<double>& value);
std::string cell(double value);
/// "yes", "no", or "?" if it was not measured.
std::string cell(const std::optional<bool>& value);
/// Four significant digits without an exponent from 1e-4 on, as times and rates need.
std::string cell_rate(const std::optional<double>& value);
/// A relative error of double precision: "4.62e-16", "0"; "< 1.1e-16" for anything below half of
/// its epsilon, where digits mean nothing.
std::string cell_error(double value);

}  // namespace wormcube::cli
