// The report of an MPI program's run: as JSON, for people, as a matrix.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/mpi/engine/run/run.hpp"

#include <string>
#include <vector>

namespace wormcube::cli {

/// JSON as in docs/schemas/mpirun.json. \param left  requests and messages left at the end
Json report_json(const mpi::Run& run, const mpi::JobEnd& end, int code,
                 const std::vector<std::string>& left);
/// For people, on standard error: standard output is the program's.
void print_report(const Json& json);
/// Bytes from each rank (a line) to each: sent by the program and its collectives.
std::string matrix_text(const mpi::Job& job);

}  // namespace wormcube::cli
