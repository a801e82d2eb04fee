// Where results go, and the files they go to.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/context.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// Where results go: --json, --csv, --quiet.
struct OutputOptions {
  std::string json, jsonl, csv;  // a file, "-" for standard output, empty for none
  std::string links;             // `run` only: a file, JSON or CSV by its name
  bool quiet = false, wide = false;
  bool has_wide = false;  // the command has --wide
  std::string color = "auto";

  /// Throws UsageError if JSON and CSV are both for standard output, or a file cannot be written.
  void validate() const;
  /// Whether to print lines for people: not if standard output belongs to JSON or CSV.
  bool text() const { return json != "-" && jsonl != "-" && csv != "-"; }
  /// Throws UsageError if JSON or CSV has standard output, which this option needs.
  void require_text(std::string_view option) const;
  /// Whether results go to files too.
  bool has_files() const;
  /// Whether tables have colour: not in files and pipes, and not with NO_COLOR (no-color.org).
  bool uses_color() const;
  /// Whether to print '#' lines.
  bool notes() const { return text() && !quiet; }
};
/// Throws UsageError, before hours of work, if a file certainly cannot be written. "" and "-" pass.
void require_writable(const std::string& file);
/// \param csv  the command has --csv, one line per result
/// \param wide  the command has columns that only --wide shows
void add_output_options(CLI::App& app, OutputOptions& options, bool csv = true, bool wide = true);
/// A check of an option for a file: an empty name, from an unset variable, is an error.
CLI::Validator file_name();
/// A check of an option that is one of these words. (CLI11's own suggests nothing.)
CLI::Validator one_of(std::vector<std::string> words);

/// Writes a whole file, or to standard output for "-"; nothing for "". If it throws CannotWrite,
/// the old file is unchanged.
void write_text(const Context& context, const std::string& target, const std::string& text);

}  // namespace wormcube::cli
