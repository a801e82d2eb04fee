// What the subcommands print: '#' lines, aligned tables, JSON and CSV.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace wormcube::cli {

/// Keeps the order in which keys are added: the order of the documentation.
using Json = nlohmann::ordered_json;

/// Lines for people have no more characters than this, but for tables with --wide.
inline constexpr std::size_t line_width = 100;

/// Where results go: --json, --csv, --quiet.
struct OutputOptions {
  std::string json, jsonl, csv;  // a file, "-" for standard output, empty for none
  std::string links;             // of `run`: a file, JSON or CSV by its name
  bool quiet = false, wide = false;

  /// Throws UsageError if JSON and CSV both want standard output, or a file cannot be written.
  void validate() const;
  /// Whether lines for people are wanted: not when standard output belongs to JSON or CSV.
  bool text() const { return json != "-" && jsonl != "-" && csv != "-"; }
  /// Whether '#' lines are wanted.
  bool notes() const { return text() && !quiet; }
};
/// Throws UsageError, before hours of work, if a file surely cannot be written. "" and "-" pass.
void require_writable(const std::string& file);
/// Throws UsageError if a file is named twice; "" and "-" are none.
void require_different_files(std::initializer_list<std::string_view> files);
/// \param csv   there is one line per result
/// \param wide  there are columns that --wide alone shows
void add_output_options(CLI::App& app, OutputOptions& options, bool csv = true, bool wide = true);
/// A check of an option for a file: an empty name, as of a variable that is not set, is none.
CLI::Validator file_name();

/// Results for people. Lines of settings start with '#', column heads too, so that what does not
/// start with '#' is data.
class Table {
 public:
  struct Column {
    std::string head;
    std::string unit = {};  // below the head; empty for counts and names
    bool text = false;      // aligned left
    std::size_t width = 0;  // at least; rows that are printed one by one have no more than this
    bool wide = false;      // shown with --wide only
    std::size_t cut = 0;    // may be cut to this width where the line would be too long; 0: not
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// One cell per column.
  void add(std::vector<std::string> cells);
  /// \param heads  with the two lines of column heads
  std::string text(bool wide) const;
  /// For rows as they come: the heads, and one row, in columns of the widths given.
  std::string heads_text(bool wide) const;
  std::string row_text(const std::vector<std::string>& cells, bool wide) const;

 private:
  template <class CellOf>
  std::string line(const char* start, const std::vector<std::size_t>& widths, bool wide,
                   const CellOf& cell_of) const;
  std::vector<std::size_t> widths(bool wide) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Lines of at most line_width characters, broken at blanks.
/// \param first, next  what the first line and all others start with
std::string filled(std::string_view text, std::string_view first, std::string_view next);

/// "# name      value": one resolved setting.
void print_setting(const OutputOptions& options, std::string_view name, std::string_view value);
/// The same, of a result: with --quiet, too.
void print_fact(const OutputOptions& options, std::string_view name, std::string_view value);
/// "# text"
void print_note(const OutputOptions& options, std::string_view text);
void print_table(const OutputOptions& options, const Table& table);

/// Results as they come: each row is printed and kept when it is there, and JSON and CSV are
/// complete on every way out, Ctrl-C and SIGTERM included. CSV has one line per result and the
/// JSON's keys as column headers; lists are left out.
class Results {
 public:
  /// \param columns  of the table; nothing is printed where there are none
  Results(const OutputOptions& options, const std::vector<Table::Column>& columns);
  /// Writes what is not written yet; for errors on the way.
  ~Results();
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  /// Prints and keeps one result; JSON gets where and how it was made (`made`).
  void add(const std::vector<std::string>& cells, Json json);
  /// Keeps the one object of a command that gives one, in place of what it was before: it grows.
  void keep_whole(Json json);
  /// What JSON has of the next result if there is none: its settings, without `made`.
  void begin(Json settings);
  /// The same for the one object of a command; it is kept, as stopped, until there is a better one.
  void begin_whole(Json settings);
  /// Keeps those settings with `status`, and `passed` null for the reason.
  void no_result(std::string_view status, std::string_view reason);
  /// The same for the current results if they have begun one, and finishes them; from any thread.
  static void no_result_now(std::string_view status, std::string_view reason) noexcept;
  /// Nothing more is written: of a command that is refused.
  void drop();
  /// A '#' line below the table; the same text once.
  void note(std::string text);
  /// Keeps what the links carried in one run, one object each channel, for OutputOptions::links.
  void add_links(std::vector<Json> channels);
  /// Prints the notes and writes the files.
  ///
  /// \param single  one object instead of an array of one
  /// Throws UsageError if a file cannot be written.
  void finish(bool single);

  /// What is being measured now, for messages from other threads and about missing memory: "TEXT: ".
  /// The command line until it is set.
  static void set_doing(std::string text);
  static std::string doing();
  /// Called by the thread that waits for signals: finishes the current results.
  static void finish_now() noexcept;

 private:
  // With the lock held.
  void keep(Json json);
  void keep_without_result(std::string_view status, std::string_view reason);
  void write(bool single);

  const OutputOptions& options_;
  Table table_;
  bool has_table_, heads_printed_ = false, finished_ = false, whole_ = false;
  Json begun_;  // null: nothing
  std::vector<Json> kept_, channels_;
  std::vector<std::string> notes_;
};

/// JSON's `status` of a result that is none.
inline constexpr std::string_view over_time_limit = "time limit", in_deadlock = "deadlock",
                                  stopped_before = "stopped";

/// Schema and program version, command line and settings, host, cores and date of this process.
Json made_json();
/// For made_json: the command line, and all options of the command with their values.
void set_command_line(int argc, const char* const* argv);
void set_settings(Json settings);

/// Writes JSON, JSON lines and CSV where they are asked for, all at once, each result with how it
/// was made.
void write_results(const OutputOptions& options, std::vector<Json> results, bool single);

/// Sets json[key]; of null also json[key + "_reason"], which says why there is no figure.
void put(Json& json, const std::string& key, Json value, std::string_view reason);

/// A count or a figure of four significant digits, or "-" where there is none.
std::string cell(const std::optional<double>& value);
std::string cell(double value);
/// "yes", "no", or "?" where it was not measured.
std::string cell(const std::optional<bool>& value);
/// Four significant digits without an exponent from 1e-4 on, as times and rates need.
std::string cell_rate(const std::optional<double>& value);

/// null where there is no figure; a whole number where the figure is one.
Json json_value(double value);
Json json_value(const std::optional<double>& value);
Json json_value(const std::optional<bool>& value);

/// "4 KiB", "1.5 GiB", "100 B".
std::string bytes_text(double bytes);

}  // namespace wormcube::cli
