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

/// Where results go: --json, --csv, --quiet.
struct OutputOptions {
  std::string json, jsonl, csv;  // a file, "-" for standard output, empty for none
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
void add_output_options(CLI::App& app, OutputOptions& options, bool csv = true);

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
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// One cell per column.
  void add(std::vector<std::string> cells);
  /// \param heads  with the two lines of column heads
  std::string text(bool heads = true) const;
  /// For rows as they come: the heads, and one row, in columns of the widths given.
  std::string heads_text(bool wide) const;
  std::string row_text(const std::vector<std::string>& cells, bool wide) const;

 private:
  template <class CellOf>
  std::string line(const char* start, const std::vector<std::size_t>& widths, bool wide,
                   const CellOf& cell_of) const;
  std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// "# name      value": one resolved setting.
void print_setting(const OutputOptions& options, std::string_view name, std::string_view value);
/// "# text"
void print_note(const OutputOptions& options, std::string_view text);
void print_table(const OutputOptions& options, const Table& table);

/// Results as they come: each row is printed and kept when it is there, and JSON and CSV are
/// complete on every way out, Ctrl-C and SIGTERM included. CSV has one line per result and the
/// JSON's keys as column headers; lists are left out.
class Results {
 public:
  /// \param columns  of the table; nothing is printed where there are none
  Results(const OutputOptions& options, std::vector<Table::Column> columns);
  /// Writes what is not written yet; for errors on the way.
  ~Results();
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  /// Prints and keeps one result; JSON gets where and how it was made (`made`).
  void add(const std::vector<std::string>& cells, Json json);
  /// A '#' line below the table; the same text once.
  void note(std::string text);
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
  void write(bool single);

  const OutputOptions& options_;
  Table table_;
  bool has_table_, heads_printed_ = false, finished_ = false;
  std::vector<Json> kept_;
  std::vector<std::string> notes_;
};

/// Schema and program version, command line, host, cores and date of this process.
Json made_json();
/// The command line, for made_json.
void set_command_line(int argc, const char* const* argv);

/// Writes JSON and CSV where they are asked for, all at once.
void write_results(const OutputOptions& options, const std::vector<Json>& results, bool single);

/// A figure, or "-" where there is none.
std::string cell(const std::optional<double>& value);
std::string cell(double value);
/// "yes", "no", or "?" where it was not measured.
std::string cell(const std::optional<bool>& value);
/// Four significant digits, as times and rates need.
std::string cell_rate(const std::optional<double>& value);

/// null where there is no figure; a whole number where the figure is one.
Json json_value(double value);
Json json_value(const std::optional<double>& value);
Json json_value(const std::optional<bool>& value);

/// "4 KiB", "1.5 GiB", "100 B".
std::string bytes_text(double bytes);

/// "12 of 100" on standard error, on a terminal only.
class Progress {
 public:
  Progress(const OutputOptions& options, std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void operator()(long done, long total);
  /// Takes the line away, before anything else is printed.
  void clear();

 private:
  std::string what_;
  bool shown_;
  bool dirty_ = false;
};

}  // namespace wormcube::cli
