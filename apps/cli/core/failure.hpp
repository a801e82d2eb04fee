// What came in place of a result: of one row of a sweep, which goes on, or of the whole program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/program.hpp"

#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace wormcube::cli {

/// Why a row has no figures.
struct Trouble {
  ExitCode code = failed;
  std::string_view status;  // JSON's
  std::string text;
};

/// What this computer did not give (memory, threads, files) is not a wrong result, and would be missing
/// for the next row too.
bool is_of_this_computer(const std::exception& error);

/// Of what a row threw; nothing if it is not of this row alone, and ends the program.
std::optional<Trouble> trouble_of(const std::exception_ptr& error);

}  // namespace wormcube::cli
