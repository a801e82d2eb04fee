// Runs another program for its output.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace wormcube::cli {

struct Child {
  int error = 0;    ///< an errno, if it did not start
  int code = 0;     ///< its exit code, or 128 + the signal that killed it
  std::string out;  ///< its standard output
};

/// Runs a program to completion, without a shell: no input, standard error discarded.
///
/// \param program  a path, or a name searched in PATH
/// \param words  its own name first
Child run_child(const std::string& program, std::vector<std::string> words);

}  // namespace wormcube::cli
