// The `wormcube` program.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/program.hpp"

#ifdef WORMCUBE_WITH_MPI
#include "wormcube/apps/cli/mpi/cluster.hpp"

int main(int argc, char** argv) {
  return wormcube::cli::main(argc, argv, wormcube::cli::start_mpi);
}
#else
int main(int argc, char** argv) { return wormcube::cli::main(argc, argv); }
#endif
