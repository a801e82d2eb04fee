// The `wormcube` program: how errors become exit codes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

namespace wormcube::cli {

/// The exit codes, which scripts rely on.
enum ExitCode : int { passed = 0, failed = 1, usage = 2, deadlock = 3, time_limit = 4 };

class Cluster;

/// Runs the program: results to standard output, errors as `wormcube: TEXT` to standard error.
///
/// \param start_cluster  how to start the processes of --nodes-as mpi; nullptr: built without MPI
int main(int argc, const char* const* argv, std::unique_ptr<Cluster> (*start_cluster)() = nullptr);

}  // namespace wormcube::cli
