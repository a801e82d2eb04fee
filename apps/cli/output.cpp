// Tables, JSON and CSV.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/output.hpp"

#include "wormcube/apps/cli/cluster.hpp"
#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/host/memory.hpp"
#include "wormcube/version.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

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
  if (!is_first_process()) return;
  std::ofstream file(target);
  file << text;
  file.close();
  if (!file) throw UsageError(fmt::format("cannot write '{}': {}", target, std::strerror(errno)));
}

/// \param anew  empties the file first
void append_text(const std::string& target, const std::string& text, bool anew) {
  if (target == "-") {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    return;
  }
  if (!is_first_process()) return;
  std::ofstream file(target, anew ? std::ios::trunc : std::ios::app);
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
  const auto to_stdout = (json == "-" ? 1 : 0) + (jsonl == "-" ? 1 : 0) + (csv == "-" ? 1 : 0);
  if (to_stdout > 1) {
    throw UsageError(
        "two of --json -, --jsonl - and --csv - want standard output; give the others a file");
  }
  require_different_files({json, jsonl, csv});
  for (const std::string& file : {json, jsonl, csv}) require_writable(file);
}

void require_different_files(std::initializer_list<std::string_view> files) {
  for (const std::string_view* file = files.begin(); file != files.end(); ++file) {
    if (file->empty() || *file == "-") continue;
    if (std::find(files.begin(), file, *file) != file)
      throw UsageError(fmt::format("'{}' is given for two outputs", *file));
  }
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
  if (!std::filesystem::is_directory(folder, error))
    fail(std::strerror(error ? error.value() : std::filesystem::exists(folder) ? ENOTDIR : ENOENT));
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
                   "The same as CSV: one line per result, JSON's keys as column headers")
        ->type_name("FILE|-")
        ->group("Output");
  }
  if (csv) {
    app.add_option("--jsonl", options.jsonl,
                   "JSON as it comes: one object a line, each written when it is there")
        ->type_name("FILE|-")
        ->group("Output");
    app.add_flag("--wide", options.wide, "All columns")->group("Output");
  }
  app.add_flag("--quiet", options.quiet,
               "No settings, no notes, no progress: heads, data, reasons and errors")
      ->group("Output");
}

void Table::add(std::vector<std::string> cells) {
  WORMCUBE_ASSERT(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = columns_[c];
    std::size_t most = std::max({width(column.head), width(unit_text(column)), column.width});
    for (const auto& row : rows_) most = std::max(most, width(row[c]));
    widths.push_back(most);
  }
  return widths;
}

template <class CellOf>
std::string Table::line(const char* start, const std::vector<std::size_t>& widths, bool wide,
                        const CellOf& cell_of) const {
  std::string out;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c].wide && !wide) continue;
    out += (out.empty() ? "" : "  ") + pad(cell_of(c), widths[c], columns_[c].text);
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return start + out + '\n';
}

std::string Table::heads_text(bool wide) const {
  const auto widths = this->widths();
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
  return line("  ", widths(), wide, [&](std::size_t c) { return cells[c]; });
}

std::string Table::text(bool heads) const {
  const auto widths = this->widths();
  std::string text = heads ? heads_text(true) : "";
  for (const auto& row : rows_) {
    text += line("  ", widths, true, [&](std::size_t c) { return row[c]; });
  }
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

namespace {

std::string command_line;
std::string current_doing;  // guarded by results_mutex

// The signal thread and the one that works both finish results.
std::mutex results_mutex;
Results* current_results = nullptr;

}  // namespace

void set_command_line(int argc, const char* const* argv) {
  command_line.clear();
  current_doing.clear();
  for (int i = 0; i < argc; ++i) command_line += (i == 0 ? "" : " ") + std::string(argv[i]);
  for (int i = 1; i < argc; ++i) current_doing += (i == 1 ? "" : " ") + std::string(argv[i]);
  constexpr std::size_t most = 200;
  if (current_doing.size() > most) current_doing = current_doing.substr(0, most) + "...";
}

Json made_json() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return {{"schema", 2},
          {"version", version},
          {"command", command_line},
          {"host", host.data()},
          {"cores", std::thread::hardware_concurrency()},
          {"memory_estimate_bytes", std::llround(expected_peak_memory())},
          {"memory_peak_bytes", std::llround(peak_memory())},
          {"date", fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900,
                               utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec)}};
}

Results::Results(const OutputOptions& options, std::vector<Table::Column> columns)
    : options_(options), table_(columns), has_table_(!columns.empty()) {
  const std::scoped_lock lock(results_mutex);
  // Not what an earlier run left there, if this one ends before its first row.
  if (!options_.jsonl.empty() && options_.jsonl != "-") append_text(options_.jsonl, "", true);
  current_results = this;
}

Results::~Results() {
  finish_now();
  const std::scoped_lock lock(results_mutex);
  current_results = nullptr;
}

void Results::add(const std::vector<std::string>& cells, Json json) {
  const std::scoped_lock lock(results_mutex);
  if (finished_) return;  // by a signal: what is printed now would not be in the files
  json["made"] = made_json();
  if (has_table_ && options_.text()) {
    if (!std::exchange(heads_printed_, true)) {
      fmt::print("{}", table_.heads_text(options_.wide));
    }
    fmt::print("{}", table_.row_text(cells, options_.wide));
    std::fflush(stdout);
  }
  if (!options_.jsonl.empty()) {
    append_text(options_.jsonl, json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n',
                false);
  }
  kept_.push_back(std::move(json));
}

void Results::note(std::string text) {
  const std::scoped_lock lock(results_mutex);
  if (std::ranges::find(notes_, text) == notes_.end()) notes_.push_back(std::move(text));
}

void Results::set_doing(std::string text) {
  const std::scoped_lock lock(results_mutex);
  current_doing = std::move(text);
}

std::string Results::doing() {
  const std::scoped_lock lock(results_mutex);
  return current_doing.empty() ? "" : current_doing + ": ";
}

void Results::write(bool single) {
  if (std::exchange(finished_, true)) return;
  if (options_.text()) {
    for (const std::string& text : notes_) fmt::print("# {}\n", text);
    std::fflush(stdout);
  }
  write_results(options_, kept_, single);
}

void Results::finish(bool single) {
  const std::scoped_lock lock(results_mutex);
  write(single);
}

void Results::finish_now() noexcept {
  const std::scoped_lock lock(results_mutex);
  if (current_results == nullptr) return;
  try {
    current_results->write(false);
  } catch (const std::exception& error) {
    fmt::print(stderr, "wormcube: {}\n", error.what());
  }
}

void write_results(const OutputOptions& options, const std::vector<Json>& results, bool single) {
  const auto lacks_made = [](const Json& result) { return !result.contains("made"); };
  if (std::ranges::any_of(results, lacks_made)) {
    std::vector<Json> made = results;
    for (Json& result : made) result["made"] = made_json();
    return write_results(options, made, single);
  }
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
    : what_(std::move(what)),
      shown_(!options.quiet && is_first_process() && isatty(STDERR_FILENO) == 1) {}

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
