// The text of `wormcube --version`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/program.hpp"

#include <string>

namespace wormcube::cli {

/// The version, and below it compiler, commit, build type, MPI, FFTW, with the consequences of its
/// licence.
std::string version_text(const Parts& parts);

}  // namespace wormcube::cli
