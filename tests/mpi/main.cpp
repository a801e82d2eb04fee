// The main function of the MPI tests: every process runs every test, process 0 reports.
// SPDX-License-Identifier: Apache-2.0
#define CATCH_CONFIG_RUNNER
#include "wormcube/runtime/machine/mpi/machine.hpp"

#include <catch2/catch.hpp>

int main(int argc, char** argv) {
  const wormcube::MpiSession mpi(argc, argv);
  Catch::Session session;
  if (const int wrong = session.applyCommandLine(argc, argv); wrong != 0) return wrong;
  if (mpi.process() > 0) session.configData().reporterName = "compact";
  return session.run();
}
