// The layout of --help: names, types, defaults, and descriptions that fit a terminal.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// CLI11's layout without its repetitions (the type lists the allowed values already), in lines as
/// wide as the terminal, at most 100 characters.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override;
  /// With the words that a command passes on to a program or a compiler.
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  /// Paragraphs are filled; lines that start with a blank stay unchanged if the terminal is wide
  /// enough.
  std::string make_footer(const CLI::App* app) const override;
};

/// The type of an option's value: "NAME[:OPTION=VALUE]", "threads|fibers"; empty for a flag.
std::string type_text(const CLI::Option& option);
/// Its default as the user would type it; empty if it has none.
std::string default_text(const CLI::Option& option);

/// "alltoall, broadcast, ..": the operations that have algorithms.
std::string operations_text();

}  // namespace wormcube::cli
