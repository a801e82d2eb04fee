// That no output is an input, or another output, by whatever name.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// Throws UsageError if two of the files that a command was given are one (another spelling, a
/// link), and it would write one of them. Outputs are the options of the group Output and --output;
/// all other options that take a FILE, networks from graph:FILE and plugins are inputs. Standard
/// output is one, where it goes to a file.
void require_distinct_files(const CLI::App& command, const std::vector<std::string>& plugins);

}  // namespace wormcube::cli
