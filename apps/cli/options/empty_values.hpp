// That no value on the command line is empty.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// Throws UsageError for an empty value (of a shell variable that is not set) and for an empty item
/// of a list ("ring:4,,ring:5"), which would be left out in silence.
void require_no_empty_values(const CLI::App& command, int argc, const char* const* argv);

}  // namespace wormcube::cli
