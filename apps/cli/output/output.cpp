// Tables, JSON and CSV.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/output/output.hpp"

#include "wormcube/apps/cli/cluster.hpp"
#include "wormcube/apps/cli/progress.hpp"
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
#include <iterator>
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

void write_text(const std::string& target, const std::string& text) {
  if (target == "-") {
    const auto alone = Progress::pause();
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
    const auto alone = Progress::pause();
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

/// One line.
std::string compact(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
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

void write_json_and_csv(const OutputOptions& options, const std::vector<Json>& results,
                        bool single) {
  if (!options.json.empty()) {
    const auto write = [&](const Json& all) {
      write_text(options.json, all.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
    };
    if (single && results.size() == 1) {
      write(results.front());
    } else {
      write(Json(results));
    }
  }
  if (!options.csv.empty()) write_text(options.csv, csv_text(results));
}

/// JSON or CSV by the file's name; every line of CSV says how it was made, in short.
void write_links(const std::string& file, std::vector<Json> channels) {
  Json made = made_json();
  if (file.ends_with(".json")) {
    const Json all{{"channels", std::move(channels)}, {"made", std::move(made)}};
    write_text(file, all.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
  } else if (!file.empty()) {
    made.erase("settings");
    for (Json& channel : channels) channel["made"] = made;
    write_text(file, csv_text(channels));
  }
}

}  // namespace

void OutputOptions::validate() const {
  const auto to_stdout = (json == "-" ? 1 : 0) + (jsonl == "-" ? 1 : 0) + (csv == "-" ? 1 : 0);
  if (to_stdout > 1) {
    throw UsageError(
        "two of --json -, --jsonl - and --csv - want standard output; give the others a file");
  }
  require_different_files({json, jsonl, csv, links});
  if (!links.empty() && !links.ends_with(".json") && !links.ends_with(".csv")) {
    throw UsageError(
        fmt::format("--links '{}': its name says the format; end it with .json or .csv", links));
  }
  for (const std::string& file : {json, jsonl, csv, links}) require_writable(file);
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

CLI::Validator file_name() {
  return {[](const std::string& text) {
            return text.empty() ? "the name of the file is empty" : std::string();
          },
          ""};
}

void add_output_options(CLI::App& app, OutputOptions& options, bool csv, bool wide) {
  app.add_option("--json", options.json,
                 "Also write the results as JSON to FILE; '-' writes JSON alone to standard output")
      ->type_name("FILE|-")
      ->check(file_name())
      ->group("Output");
  if (csv) {
    app.add_option("--csv", options.csv,
                   "The same as CSV: one line per result, JSON's keys as column headers")
        ->type_name("FILE|-")
        ->check(file_name())
        ->group("Output");
  }
  app.add_option("--jsonl", options.jsonl,
                 "JSON as it comes: one object a line, each written when it is there")
      ->type_name("FILE|-")
      ->check(file_name())
      ->group("Output");
  if (wide) {
    app.add_flag("--wide", options.wide, "All columns and notes, whatever their width")
        ->group("Output");
  }
  app.add_flag("--quiet", options.quiet,
               "No settings, no notes, no progress: heads, data, reasons and errors")
      ->group("Output");
}

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

namespace {

std::string command_line;
Json all_settings = Json::object();
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

void set_settings(Json all) { all_settings = std::move(all); }

Json made_json() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return {{"schema", 3},
          {"version", version},
          {"command", command_line},
          {"settings", all_settings},
          {"host", host.data()},
          {"cores", std::thread::hardware_concurrency()},
          {"memory_estimate_bytes", std::llround(expected_peak_memory())},
          {"memory_peak_bytes", std::llround(peak_memory())},
          {"date", fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900,
                               utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec)}};
}

Results::Results(const OutputOptions& options, const std::vector<Table::Column>& columns)
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
  if (has_table_ && options_.text()) {
    const auto alone = Progress::pause();
    if (!std::exchange(heads_printed_, true)) {
      fmt::print("{}", table_.heads_text(options_.wide));
    }
    fmt::print("{}", table_.row_text(cells, options_.wide));
    std::fflush(stdout);
  }
  keep(std::move(json));
}

void Results::keep(Json json) {
  begun_ = nullptr;
  json["made"] = made_json();
  if (!options_.jsonl.empty()) append_text(options_.jsonl, compact(json), false);
  kept_.push_back(std::move(json));
}

void Results::keep_whole(Json json) {
  const std::scoped_lock lock(results_mutex);
  whole_ = true;
  kept_.clear();
  kept_.push_back(std::move(json));
}

void Results::begin(Json settings) {
  const std::scoped_lock lock(results_mutex);
  begun_ = std::move(settings);
}

void Results::begin_whole(Json settings) {
  const std::scoped_lock lock(results_mutex);
  whole_ = true;
  begun_ = settings;
  keep_without_result(stopped_before, "stopped before the end");
  begun_ = std::move(settings);
}

void Results::keep_without_result(std::string_view status, std::string_view reason) {
  if (finished_ || begun_.is_null()) return;
  Json json = std::exchange(begun_, nullptr);
  json["status"] = status;
  put(json, "passed", nullptr, reason);
  if (whole_) {
    kept_.clear();
    kept_.push_back(std::move(json));
  } else {
    keep(std::move(json));
  }
}

void Results::no_result(std::string_view status, std::string_view reason) {
  const std::scoped_lock lock(results_mutex);
  keep_without_result(status, reason);
}

void Results::drop() {
  const std::scoped_lock lock(results_mutex);
  finished_ = true;
}

void Results::no_result_now(std::string_view status, std::string_view reason) noexcept {
  try {
    const std::scoped_lock lock(results_mutex);
    if (current_results != nullptr) current_results->keep_without_result(status, reason);
  } catch (const std::exception& error) {
    fmt::print(stderr, "wormcube: {}\n", error.what());
  }
  finish_now();
}

void Results::note(std::string text) {
  const std::scoped_lock lock(results_mutex);
  if (std::ranges::find(notes_, text) == notes_.end()) notes_.push_back(std::move(text));
}

void Results::add_links(std::vector<Json> channels) {
  const std::scoped_lock lock(results_mutex);
  std::ranges::move(channels, std::back_inserter(channels_));
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
    const auto alone = Progress::pause();
    for (const std::string& text : notes_) fmt::print("{}", filled(text, "# ", "#   "));
    std::fflush(stdout);
  }
  write_links(options_.links, channels_);
  if (whole_) {
    kept_.front()["made"] = made_json();
    if (!options_.jsonl.empty()) append_text(options_.jsonl, compact(kept_.front()), false);
  }
  write_json_and_csv(options_, kept_, single || whole_);
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

void write_results(const OutputOptions& options, std::vector<Json> results, bool single) {
  for (Json& result : results) result["made"] = made_json();
  for (std::size_t i = 0; i < results.size() && !options.jsonl.empty(); ++i) {
    append_text(options.jsonl, compact(results[i]), i == 0);
  }
  write_json_and_csv(options, results, single);
}

void put(Json& json, const std::string& key, Json value, std::string_view reason) {
  const bool missing = value.is_null();
  json[key] = std::move(value);
  if (missing) json[key + "_reason"] = reason;
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

}  // namespace wormcube::cli
