// Why there is no result: of one row of a sweep, which goes on, or of the whole program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/exit_code.hpp"

#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace wormcube::cli {

/// JSON's `status` for a missing result.
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

/// Missing memory, threads or files are not a wrong result, and the next row would miss them too.
bool is_of_this_computer(const std::exception& error);

/// From a row's exception; empty if it concerns more than this row, and ends the program.
std::optional<Failure> failure_of(const std::exception_ptr& error);

}  // namespace wormcube::cli
