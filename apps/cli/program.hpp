// The `wormcube` program: errors become exit codes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/core/cluster.hpp"
#include "wormcube/apps/cli/core/exit_code.hpp"
#include "wormcube/runtime/topology/flows.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace wormcube::cli {

/// The optional parts of an executable.
struct Parts {
  /// How to start the processes of --executor mpi; nullptr: built without MPI.
  std::unique_ptr<Cluster> (*start_cluster)() = nullptr;
  std::string (*mpi_library)() = nullptr;   ///< "Open MPI v4.1.4", from the library itself
  std::string (*glpk_version)() = nullptr;  ///< "GLPK 5.0"; nullptr: built without GLPK
  theory::ExchangeProgram exchange_program = nullptr;
  std::string_view commit = "unknown", build_type = "unknown";
};

/// Runs the program: results to standard output, errors as `wormcube: TEXT` to standard error.
int main(int argc, const char* const* argv, const Parts& parts = {});

}  // namespace wormcube::cli
