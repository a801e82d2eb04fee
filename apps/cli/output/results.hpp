// Results as they arrive: each row is kept at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/context.hpp"
#include "wormcube/apps/cli/core/failure.hpp"
#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/output/row_files.hpp"
#include "wormcube/apps/cli/output/table.hpp"

#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube::cli {

/// Results as they arrive: each row is printed and written to all files at once, which are complete
/// after it, however the program ends. CSV has one line per result and JSON's keys as column heads,
/// without lists.
///
/// Functions that write throw CannotWrite after the row is printed and in the other files.
///
/// Threads  One thread uses it; any other may end it (Context::end_work).
class Results final : Unfinished {
 public:
  /// \param columns  of the table; nothing is printed if there are none
  /// \param csv_keys  of JSON that CSV has without --wide; empty: all but the provenance
  Results(Context& context, const OutputOptions& options, const std::vector<Table::Column>& columns,
          std::vector<std::string> csv_keys = {});
  /// Prints the notes and closes the files; for errors on the way.
  ~Results() override;
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  /// Prints and keeps one result; JSON gets its `provenance`. Throws NobodyReads if nobody reads
  /// the output.
  void add(const std::vector<std::string>& cells, Json json);
  /// no_result(), and prints a row of it.
  void add_without_result(const std::vector<std::string>& cells, std::string_view status,
                          std::string_view reason);
  /// Keeps the object of a command with a single one, replacing its earlier state: it grows.
  void keep_whole(Json json);
  /// What JSON has for the next result if it fails: its settings, without `provenance`.
  void begin(Json settings);
  /// The same for the one object of a command: kept, as stopped, if the program ends without a
  /// better one.
  void begin_whole(Json settings);
  /// Keeps those settings with `status`, and `passed` null for the reason; after a failure or crash
  /// `passed` is false, and `failures` has the reason.
  void no_result(std::string_view status, std::string_view reason);
  /// A '#' line below the table; repeated texts are printed once.
  void note(std::string text);
  /// Keeps the traffic of one run for OutputOptions::links, one object per channel.
  void add_links(std::vector<Json> channels);
  /// Prints the notes and closes the files. \param single  one object instead of an array of one
  void finish(bool single);

 private:
  void end(std::string_view status, std::string_view reason) noexcept override;
  // With the lock held.
  void show(const std::vector<std::string>& cells);
  void keep(Json json);
  void keep_without_result(std::string_view status, std::string_view reason);
  void write(bool single, bool complete);

  Context& context_;
  const OutputOptions& options_;
  std::mutex mutex_;  // guards the members below
  Table table_;
  std::string left_out_;  // a note
  bool has_table_, heads_printed_ = false, finished_ = false, whole_ = false;
  Json begun_;  // null: nothing
  int exceptions_ = std::uncaught_exceptions();
  std::vector<std::string> notes_;
  RowFiles files_;
};

/// Writes the requested JSON, JSON lines and CSV, all at once, each result with its provenance.
void write_results(const Context& context, const OutputOptions& options, std::vector<Json> results,
                   bool single);

}  // namespace wormcube::cli
