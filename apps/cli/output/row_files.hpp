// JSON, JSON lines and CSV of results as they arrive, in files that are complete at every moment.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/context.hpp"
#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/io/new_file.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace wormcube::cli {

/// A JSON file with an array that grows.
class JsonArrayFile {
 public:
  /// \param before  the text before the first element: "["
  /// \param indent  of the elements' lines
  JsonArrayFile(std::string file, std::string before, std::size_t indent)
      : file_(std::move(file)), before_(std::move(before)), indent_(indent) {}
  /// \param after  the text after the last one: "]"
  void add(std::span<const Json> elements, const std::string& after);
  /// Replaces the whole text.
  void replace(const Json& all) { file_.write(indented(all)); }
  void close() { file_.close(); }

 private:
  apps::WholeFile file_;
  std::string before_;
  std::size_t indent_, after_ = 0;
  bool any_ = false;
};

/// The files of OutputOptions, and standard output. Of several processes only the first writes.
///
/// Throws CannotWrite, after all files have been tried.
class RowFiles {
 public:
  /// \param csv_keys  of JSON that CSV has without --wide; empty: all but the provenance
  RowFiles(const Context& context, const OutputOptions& options,
           std::vector<std::string> csv_keys = {});

  /// \param row  with its provenance
  void add(const Json& row);
  /// Replaces the object of a command with a single one. JSON lines get only the last one.
  void whole(const Json& object);
  /// The traffic of links, in a file of its own.
  void add_links(std::vector<Json> channels);
  /// Ends the files.
  ///
  /// \param single  one object instead of an array of one
  /// \param complete  all is there: if that is nothing, files say so; else they keep what an earlier
  /// run has left
  void finish(bool single, bool complete);

 private:
  Json csv_cells(const Json& row) const;
  void csv_row(const Json& row);

  const Context& context_;
  const OutputOptions& options_;
  const std::vector<std::string> csv_keys_;
  bool first_, whole_ = false, has_links_ = false;
  std::size_t count_ = 0;
  JsonArrayFile json_, links_json_;
  apps::WholeFile csv_, links_csv_;
  apps::LineFile lines_;
  CsvRows csv_rows_, links_rows_;
  std::vector<Json> rows_;  // the first row; all rows, for standard output
};

}  // namespace wormcube::cli
