// --nodes-as mpi in a program without MPI, and how it is recognised. With MPI: tests/mpi.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/cluster.hpp"

#include "wormcube/runtime/error.hpp"

#include <array>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::cli;
using Catch::Matchers::Contains;

TEST_CASE("nodes as mpi without an MPI says what is missing") {
  for (const char* nodes_as : {"mpi", "mpi+fibers"}) {
    MachineFlags flags;
    flags.nodes_as = nodes_as;
    CHECK_THROWS_WITH(require_cluster(flags, Topology::parse("ring:4")),
                      Contains("built without MPI") && Contains("libopenmpi-dev"));
  }
  CHECK_NOTHROW(require_cluster(MachineFlags{}, Topology::parse("ring:4")));
}

TEST_CASE("processes are started for --nodes-as mpi only") {
  const auto wants = [](auto... words) {
    const std::array argv{"wormcube", words...};
    return wants_cluster(static_cast<int>(argv.size()), argv.data());
  };
  CHECK(wants("run", "--nodes-as", "mpi"));
  CHECK(wants("run", "--nodes-as", "mpi+fibers", "--quiet"));
  CHECK(wants("run", "--nodes-as=mpi+fibers"));
  CHECK_FALSE(wants("run", "--nodes-as", "fibers"));
  CHECK_FALSE(wants("run", "--algorithm", "mpi"));
  CHECK_FALSE(wants("run", "--nodes-as"));
}

TEST_CASE("a process alone is the first, and holds all nodes") {
  CHECK(is_first_process());
  CHECK(share_here() == 1);
  bool called = false;
  in_first_process([&] { called = true; });
  CHECK(called);
}
