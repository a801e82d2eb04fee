// Checks that no value on the command line is empty.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// Throws UsageError for an empty value (an unset shell variable) and for an empty item in a list
/// ("ring:4,,ring:5"), which CLI11 would drop silently.
void require_no_empty_values(const CLI::App& command, int argc, const char* const* argv);

}  // namespace wormcube::cli
