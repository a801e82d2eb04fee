// Who has started this process: an mpirun tells those it starts, whether or not they use MPI.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace wormcube::cli {

/// One of several processes that were started together, as the environment tells.
struct Launch {
  std::string launcher;  ///< "Open MPI's mpirun"
  std::string variable;  ///< that tells: "OMPI_COMM_WORLD_SIZE"
  int processes = 0;     ///< 0: several, but nobody says how many
  int process = 0;

  /// The one that says what is wrong with all.
  bool is_first() const { return process == (processes > 0 ? 0 : 1); }
};

/// Empty for a process alone. Tests bring an environment of their own.
///
/// Slurm's SLURM_NTASKS is not asked: it is set in a batch script too, which is one process.
std::optional<Launch> launch_of_several(
    const std::function<const char*(const char*)>& environment = {});

/// What is said to the first process of a launch that does not work together.
/// \param wants    whether --executor mpi.. was asked for
/// \param library  the MPI that this program is built with: "Open MPI v4.1.4"; empty for none
std::string wrongly_started(const Launch& launch, bool wants, const std::string& library);

/// Whether the command line says --executor mpi..: what is printed depends on it, errors included.
bool wants_cluster(int argc, const char* const* argv);

}  // namespace wormcube::cli
