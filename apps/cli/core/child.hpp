// Another program, run for what it prints.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace wormcube::cli {

struct Child {
  int error = 0;    ///< an errno: it did not start
  int code = 0;     ///< its exit code, or 128 + the signal that ended it
  std::string out;  ///< its standard output
};

/// Runs a program to its end, without a shell: no input, standard error thrown away.
///
/// \param program  a path, or a name to look for in PATH
/// \param words    its own name first
Child run_child(const std::string& program, std::vector<std::string> words);

}  // namespace wormcube::cli
