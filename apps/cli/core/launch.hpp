// The launcher of this process: an mpirun sets variables for the processes that it starts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace wormcube::cli {

/// One of several processes started together, according to the environment.
struct Launch {
  std::string launcher;  ///< "Open MPI's mpirun"
  std::string variable;  ///< the variable found: "OMPI_COMM_WORLD_SIZE"
  int processes = 0;     ///< 0: several, but the number is unknown
  int process = 0;

  /// Whether this process reports errors for all.
  bool is_first() const { return process == (processes > 0 ? 0 : 1); }
};

/// Empty for a single process. Tests pass an environment of their own.
///
/// SLURM_NTASKS does not count: Slurm sets it in batch scripts too, which are one process.
std::optional<Launch> launch_of_several(
    const std::function<const char*(const char*)>& environment = {});

/// The error for the first process of a launch whose processes do not work together.
/// \param wants  whether --executor mpi.. was given
/// \param library  the MPI that this program is built with: "Open MPI v4.1.4"; empty for none
std::string wrongly_started(const Launch& launch, bool wants, const std::string& library);

/// Whether the command line has --executor mpi..; which processes print depends on it, errors
/// included.
bool wants_cluster(int argc, const char* const* argv);

}  // namespace wormcube::cli
