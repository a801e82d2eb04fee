// Runs another program for its output.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace wormcube::cli {

struct Child {
  int error = 0;         ///< an errno, if it did not start
  int code = 0;          ///< its exit code, or 128 + the signal that killed it
  std::string out;       ///< its standard output, with standard error if that is wanted
  bool is_late = false;  ///< it was killed at the limit
};

/// Runs a program to completion, without a shell and without input.
///
/// \param program  a path, or a name searched in PATH
/// \param words  its own name first
/// \param with_errors  keep its standard error, which is discarded otherwise
/// \param limit  it is killed after this time; programs that it has started end after as much time
///               of a processor. 0: none
Child run_child(const std::string& program, std::vector<std::string> words,
                bool with_errors = false, std::chrono::milliseconds limit = {});

}  // namespace wormcube::cli
