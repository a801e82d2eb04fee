// Runs the built `wormcube` program and captures its output.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/tests/temporary_file.hpp"

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

namespace wormcube::test {

struct Output {
  int exit = -1;  // -1: ended by a signal
  std::string out, err;

  /// Standard output as JSON; a failed test if it is anything else.
  nlohmann::json json() const;
};

/// \param arguments    as typed in a shell
/// \param environment  what precedes the program's name there: "NAME=value", or commands
Output run_wormcube(const std::string& arguments, const std::string& environment = {});

/// An environment in which the program has this many MiB of addresses. Not this process: its own
/// size depends on the tests before.
std::string with_addresses(std::uint64_t mebibytes);

/// Whether the program can be loaded at all there.
bool wormcube_starts(const std::string& environment);

}  // namespace wormcube::test
