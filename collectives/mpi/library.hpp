// The MPI library's own collectives, on the same buffers as ours: a comparison on a cluster.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/registry.hpp"

#include <span>

namespace wormcube {

/// One algorithm per operation, named "mpi", for nodes of an MpiMachine with one node in each
/// process, and its whole network, no view. The library's own call is local work of the node: a
/// trace shows no step of it, and a dry run skips it. A deadlock inside it is not diagnosed: if
/// another node fails meanwhile, the job is aborted.
std::span<const Algorithm> mpi_library_algorithms();

}  // namespace wormcube
