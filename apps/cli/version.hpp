// What `wormcube --version` says.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/program.hpp"

#include <string>

namespace wormcube::cli {

/// The version, and below it compiler, commit, build type, MPI, FFTW, with what its licence means.
std::string version_text(const Parts& parts);

}  // namespace wormcube::cli
