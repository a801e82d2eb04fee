// Runs the built `wormcube` program and captures its output.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/tests/temporary_file.hpp"

#include <string>

#include <nlohmann/json.hpp>

namespace wormcube::test {

struct Output {
  int exit = -1;  // -1: ended by a signal
  std::string out, err;

  /// Standard output as JSON; a failed test if it is anything else.
  nlohmann::json json() const;
};

/// \param arguments  as typed in a shell
Output run_wormcube(const std::string& arguments, const std::string& environment = {});

/// Whether the program can be loaded at all, under the limits that hold now.
bool wormcube_starts();

}  // namespace wormcube::test
