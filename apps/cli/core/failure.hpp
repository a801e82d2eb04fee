// Why there is no result: of one row of a sweep, which goes on, or of the whole program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/exit_code.hpp"

#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace wormcube::cli {

/// JSON's `status` of a result that is none.
inline constexpr std::string_view over_time_limit = "time limit", in_deadlock = "deadlock",
                                  stopped_before = "stopped", not_made = "refused",
                                  has_failed = "failed", crashed = "crashed";

/// Why a row has no figures.
struct Failure {
  ExitCode code = failed;
  std::string_view status;
  std::string text;
  std::string first_line() const { return text.substr(0, text.find('\n')); }
};

/// What this computer did not give (memory, threads, files) is not a wrong result, and would be
/// missing for the next row too.
bool is_of_this_computer(const std::exception& error);

/// Of what a row threw; nothing if it is not of this row alone, and ends the program.
std::optional<Failure> failure_of(const std::exception_ptr& error);

}  // namespace wormcube::cli
