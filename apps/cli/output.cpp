// Tables, JSON and CSV.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/output.hpp"

#include "wormcube/runtime/error.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/core.h>
#include <unistd.h>

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

std::string unit_text(const Table::Column& column) {
  return column.unit.empty() ? std::string() : "(" + column.unit + ")";
}

void write_text(const std::string& target, const std::string& text) {
  if (target == "-") {
    std::fputs(text.c_str(), stdout);
    return;
  }
  std::ofstream file(target);
  file << text;
  file.close();
  if (!file) throw UsageError(fmt::format("cannot write '{}': {}", target, std::strerror(errno)));
}

/// The scalars of an object, those of objects inside it under "outer.inner".
void flatten(const Json& object, const std::string& prefix,
             std::vector<std::pair<std::string, std::string>>& cells) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      flatten(value, prefix + key + ".", cells);
    } else if (!value.is_array()) {
      std::string text = value.is_string() ? value.get<std::string>()
                         : value.is_null()
                             ? std::string()
                             : value.dump(-1, ' ', false, Json::error_handler_t::replace);
      if (text.find_first_of(",\"\n") != text.npos) {
        std::string quoted = "\"";
        for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
        text = quoted + '"';
      }
      cells.emplace_back(prefix + key, std::move(text));
    }
  }
}

std::string csv_text(const std::vector<Json>& results) {
  std::vector<std::vector<std::pair<std::string, std::string>>> rows;
  std::vector<std::string> heads;
  for (const Json& result : results) {
    flatten(result, "", rows.emplace_back());
    for (const auto& [head, value] : rows.back()) {
      if (std::ranges::find(heads, head) == heads.end()) heads.push_back(head);
    }
  }
  std::string text;
  for (const std::string& head : heads) text += (text.empty() ? "" : ",") + head;
  text += '\n';
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const auto found = std::ranges::find(row, heads[i], [](const auto& c) { return c.first; });
      if (i > 0) text += ',';
      if (found != row.end()) text += found->second;
    }
    text += '\n';
  }
  return text;
}

}  // namespace

void OutputOptions::validate() const {
  if (json == "-" && csv == "-") {
    throw UsageError("--json - and --csv - both want standard output; give one of them a file");
  }
  require_writable(json);
  require_writable(csv);
}

void require_writable(const std::string& file) {
  if (file.empty() || file == "-") return;
  const std::filesystem::path path(file);
  const auto fail = [&](const std::string& reason) {
    throw UsageError(fmt::format("cannot write '{}': {}", file, reason));
  };
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::none) fail(error.message());
  if (std::filesystem::is_directory(status)) fail("it is a directory");
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const auto& target = std::filesystem::exists(status) ? path : folder;
  if (access(target.c_str(), W_OK) != 0) fail(std::strerror(errno));
}

void add_output_options(CLI::App& app, OutputOptions& options, bool csv) {
  app.add_option("--json", options.json,
                 "Also write the results as JSON to FILE; '-' writes JSON alone to standard output")
      ->type_name("FILE|-")
      ->group("Output");
  if (csv) {
    app.add_option("--csv", options.csv,
                   "The same as CSV: one line per result, JSON's keys as heads")
        ->type_name("FILE|-")
        ->group("Output");
  }
  app.add_flag("--quiet", options.quiet, "No '#' lines and no progress: data and errors only")
      ->group("Output");
}

void Table::add(std::vector<std::string> cells) {
  WORMCUBE_ASSERT(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text(bool heads) const {
  std::vector<std::size_t> widths;
  bool units = false;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = columns_[c];
    std::size_t most = std::max(width(column.head), width(unit_text(column)));
    for (const auto& row : rows_) most = std::max(most, width(row[c]));
    widths.push_back(most);
    units = units || !column.unit.empty();
  }
  std::string text;
  const auto line = [&](const char* start, const auto& cell_of) {
    std::string out = start;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (c > 0) out += "  ";
      out += pad(cell_of(c), widths[c], columns_[c].text);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + '\n';
  };
  if (heads) {
    line("# ", [&](std::size_t c) -> const std::string& { return columns_[c].head; });
    if (units) {
      line("# ", [&](std::size_t c) { return unit_text(columns_[c]); });
    }
  }
  for (const auto& row : rows_)
    line("  ", [&](std::size_t c) -> const std::string& { return row[c]; });
  return text;
}

void print_setting(const OutputOptions& options, std::string_view name, std::string_view value) {
  if (options.notes()) fmt::print("# {:<16} {}\n", name, value);
}

void print_note(const OutputOptions& options, std::string_view text) {
  if (options.notes()) fmt::print("# {}\n", text);
}

void print_table(const OutputOptions& options, const Table& table) {
  if (options.text()) fmt::print("{}", table.text(!options.quiet));
}

void write_results(const OutputOptions& options, const std::vector<Json>& results, bool single) {
  if (!options.json.empty()) {
    const Json all = single && results.size() == 1 ? results.front() : Json(results);
    write_text(options.json, all.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
  }
  if (!options.csv.empty()) write_text(options.csv, csv_text(results));
}

std::string cell(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                              : fmt::format("{:.4g}", value);
}
std::string cell(const std::optional<double>& value) { return value ? cell(*value) : "-"; }
std::string cell(const std::optional<bool>& value) { return !value ? "?" : *value ? "yes" : "no"; }

std::string cell_rate(const std::optional<double>& value) {
  if (!value) return "-";
  const double magnitude = std::abs(*value);
  if (magnitude == 0) return "0";
  if (magnitude < 0.1) return fmt::format("{:.3g}", *value);
  const int decimals = magnitude >= 1000 ? 0 : magnitude >= 100 ? 1 : magnitude >= 10 ? 2 : 3;
  return fmt::format("{:.{}f}", *value, decimals);
}

Json json_value(double value) {
  if (value == std::floor(value) && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
  return value;
}
Json json_value(const std::optional<double>& value) {
  return value ? json_value(*value) : Json(nullptr);
}
Json json_value(const std::optional<bool>& value) { return value ? Json(*value) : Json(nullptr); }

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

Progress::Progress(const OutputOptions& options, std::string what)
    : what_(std::move(what)), shown_(!options.quiet && isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (dirty_) std::fputs("\r\033[K", stderr);
  dirty_ = false;
}

void Progress::operator()(long done, long total) {
  if (!shown_) return;
  const auto line = fmt::format("\r\033[K{}: {} of {}", what_, done, total);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  dirty_ = true;
}

}  // namespace wormcube::cli
