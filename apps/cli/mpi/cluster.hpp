// The processes of an MPI job.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/program.hpp"

#include <memory>
#include <string>

namespace wormcube::cli {

/// Starts MPI; the library's own collectives become algorithms. Ends with the object.
std::unique_ptr<Cluster> start_mpi();
/// The library's own name and version, whether MPI is started or not.
std::string mpi_library();

}  // namespace wormcube::cli
