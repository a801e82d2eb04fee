// Checks that no output is an input, or another output, whatever their names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// Throws UsageError if two file names of a command mean one file (another spelling, a link) and
/// one of them is an output. Outputs are the options of the group Output and --output; all other
/// options that take a FILE, networks from graph:FILE and plugins are inputs. Standard output
/// counts if it is redirected to a file.
void require_distinct_files(const CLI::App& command, const std::vector<std::string>& plugins);

}  // namespace wormcube::cli
