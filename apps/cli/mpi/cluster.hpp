// The processes of an MPI job.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/program.hpp"

#include <memory>
#include <string>

namespace wormcube::cli {

/// Starts MPI and registers the library's own collectives as algorithms. The object's end finalizes
/// it.
std::unique_ptr<Cluster> start_mpi();
/// The library's own name and version, whether or not MPI is started.
std::string mpi_library();

}  // namespace wormcube::cli
