// Files of results.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/output/files.hpp"

#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/io/new_file.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

namespace wormcube::cli {

void write_text(const Context& context, const std::string& target, const std::string& text) {
  if (target.empty()) return;
  if (target == "-") return print_data(text);
  if (!context.is_first_process()) return;
  apps::NewFile file(target);
  file.write(text);
  file.finish();
}

void OutputOptions::validate() const {
  const auto to_stdout = (json == "-" ? 1 : 0) + (jsonl == "-" ? 1 : 0) + (csv == "-" ? 1 : 0);
  if (to_stdout > 1) {
    throw UsageError(
        "only one of --json -, --jsonl - and --csv - can write to standard output; name a file for "
        "the others");
  }
  if (!links.empty() && !links.ends_with(".json") && !links.ends_with(".csv")) {
    throw UsageError(
        fmt::format("--links '{}': unknown format; the name must end with .json or .csv", links));
  }
  for (const std::string& file : {json, jsonl, csv, links}) require_writable(file);
}

void OutputOptions::require_text(std::string_view option) const {
  if (text()) return;
  const std::string_view other = json == "-" ? "--json" : jsonl == "-" ? "--jsonl" : "--csv";
  throw UsageError(fmt::format(
      "{0} and {1} - cannot both write to standard output; name a file for {1}", option, other));
}

bool OutputOptions::has_files() const {
  for (const std::string* file : {&json, &jsonl, &csv, &links}) {
    if (!file->empty() && *file != "-") return true;
  }
  return false;
}

bool OutputOptions::uses_color() const {
  if (color != "auto") return color == "always";
  const char *no_color = std::getenv("NO_COLOR"), *kind = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0') &&
         kind != nullptr && std::string_view(kind) != "dumb";
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
  return {[](const std::string& text) { return text.empty() ? "empty file name" : std::string(); },
          ""};
}

CLI::Validator one_of(std::vector<std::string> words) {
  const auto complaint = [words = std::move(words)](const std::string& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return {};
    const std::vector<std::string_view> known(words.begin(), words.end());
    return fmt::format("unknown value '{}'{}; available:{}", text, did_you_mean(text, known),
                       listed(known));
  };
  return {complaint, ""};
}

void add_output_options(CLI::App& app, OutputOptions& options, bool csv, bool wide) {
  app.add_option("--json", options.json,
                 "Also write the results as JSON to FILE (-: write only JSON to standard output)")
      ->type_name("FILE|-")
      ->check(file_name())
      ->group("Output");
  if (csv) {
    app.add_option("--csv", options.csv,
                   fmt::format("Also write the results as CSV: one line per result, with JSON keys "
                               "as column headings{}",
                               wide ? " (all keys with --wide)" : ""))
        ->type_name("FILE|-")
        ->check(file_name())
        ->group("Output");
  }
  app.add_option("--jsonl", options.jsonl,
                 "Also write the results as JSON lines: one object per line, as soon as each "
                 "result is known")
      ->type_name("FILE|-")
      ->check(file_name())
      ->group("Output");
  options.has_wide = wide;
  if (wide) {
    app.add_flag("--wide", options.wide,
                 "Print all columns and notes, even if they are wider than the terminal")
        ->group("Output");
  }
  app.add_flag("--quiet", options.quiet,
               "Print only results and errors; omit settings, general notes and progress")
      ->group("Output");
  app.add_option("--color", options.color,
                 "Colour winners and failures. auto: only on a terminal, unless NO_COLOR is set")
      ->type_name("auto|always|never")
      ->check(one_of({"auto", "always", "never"}))
      ->group("Output");
}

}  // namespace wormcube::cli
