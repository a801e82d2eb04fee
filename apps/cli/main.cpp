// The `wormcube` program.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/program.hpp"
#include "wormcube/built.hpp"

#ifdef WORMCUBE_WITH_MPI
#include "wormcube/apps/cli/mpi/cluster.hpp"
#endif
#ifdef WORMCUBE_WITH_GLPK
#include "wormcube/apps/flows/exchange_program.hpp"
#endif

int main(int argc, char** argv) {
  using namespace wormcube;
  cli::Parts parts;
  parts.commit = built_commit;
  parts.build_type = build_type;
#ifdef WORMCUBE_WITH_MPI
  parts.start_cluster = cli::start_mpi;
  parts.mpi_library = cli::mpi_library;
#endif
#ifdef WORMCUBE_WITH_GLPK
  parts.glpk_version = apps::glpk_version;
  parts.exchange_program = apps::solve_exchange;
#endif
  return cli::main(argc, argv, parts);
}
