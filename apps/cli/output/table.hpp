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

/// The most characters in a line of prose: 100, or the terminal's width if it is less.
std::size_t line_width();
/// The most characters in a table's line without --wide: the terminal's width; 100 if standard
/// output is no terminal.
std::size_t table_width();

/// Results for people. Settings and column heads start with '#', so every line without '#' is data.
/// Cells are cleaned (see print.hpp); its only escape sequences are colours.
class Table {
 public:
  struct Column {
    std::string head;
    std::string unit = {};  // below the head; empty for counts and names
    bool text = false;      // aligned left
    std::size_t width = 0;  // minimum; also the maximum for rows printed one by one
    bool wide = false;      // shown with --wide only
    std::size_t cut = 0;    // may be cut to this width if the line would be too long; 0: never cut
    // For names that may be cut: in the middle, but they stay different from each other.
    bool is_name = false;
    std::vector<std::string> names = {};  // of rows printed one by one
    int drop = 0;          // dropped if the line would be too long, the largest first; 0: never
    bool answer = false;   // green in the rows of winners
    bool verdict = false;  // red unless it is "0", "yes", "-" or "?"
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// How a table is printed.
  struct Style {
    bool wide = false, color = false;
    std::size_t most = table_width();  // characters in a line, unless it is wide
  };
  static Style style(const OutputOptions& options);

  /// One cell per column.
  void add(std::vector<std::string> cells, bool winner = false);
  /// The table with its head.
  std::string text(const Style& style) const;
  /// For rows as they arrive: the heads, and one row, in columns of fixed widths.
  std::string heads_text(const Style& style) const;
  std::string row_text(const std::vector<std::string>& cells, const Style& style) const;
  /// "too wide for this line: delivered, exactly once; --wide shows all"; empty if all are shown.
  std::string left_out(const Style& style) const;

 private:
  struct Layout {
    std::vector<std::size_t> widths;
    std::vector<bool> shown;
  };
  template <class CellOf>
  std::string line(const char* start, const Layout& layout, const CellOf& cell_of) const;
  std::string row_line(const std::vector<std::string>& cells, const Layout& layout, bool color,
                       bool winner) const;
  Layout layout(const Style& style) const;
  /// The least width of a column at which its names stay different.
  std::size_t least_width(std::size_t column) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> winners_;  // one per row
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
