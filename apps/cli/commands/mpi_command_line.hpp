// Words of the command line that are not ours: another program's, behind mpirun, mpicc and mpicxx.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace wormcube::cli {

/// Cuts off what belongs to another program, which foreign_words() then has; what is left is ours, with
/// mpirun's -np as -n. Called by a link named mpicc, mpicxx (mpic++, mpiCC) or mpirun (mpiexec) the
/// program is that command.
std::vector<const char*> own_words(int argc, const char* const* argv);
const std::vector<std::string>& foreign_words();

}  // namespace wormcube::cli
