// --executor mpi in a program without MPI, and how it is recognised. With MPI: tests/mpi.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/cluster.hpp"

#include "wormcube/apps/cli/core/launch.hpp"
#include "wormcube/apps/cli/program.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/schedule/dies.hpp"

#include <array>
#include <csignal>
#include <memory>
#include <string>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::cli;
using Catch::Matchers::Contains;

TEST_CASE("nodes as mpi without an MPI says what is missing") {
  const Context context;
  for (const char* executor : {"mpi", "mpi+fibers"}) {
    MachineFlags flags;
    flags.executor = executor;
    CHECK_THROWS_WITH(require_cluster(context, flags, Topology::parse("ring:4")),
                      Contains("built without MPI") && Contains("libopenmpi-dev"));
  }
  CHECK_NOTHROW(require_cluster(context, MachineFlags{}, Topology::parse("ring:4")));
}

TEST_CASE("processes are started for --executor mpi only") {
  const auto wants = [](auto... words) {
    const std::array argv{"wormcube", words...};
    return wants_cluster(static_cast<int>(argv.size()), argv.data());
  };
  CHECK(wants("run", "--executor", "mpi"));
  CHECK(wants("run", "--executor", "mpi+fibers", "--quiet"));
  CHECK(wants("run", "--executor=mpi+fibers"));
  CHECK_FALSE(wants("run", "--executor", "fibers"));
  CHECK_FALSE(wants("run", "--algorithm", "mpi"));
  CHECK_FALSE(wants("run", "--executor"));
}

TEST_CASE("a process alone is the first, and holds all nodes") {
  const Context context;
  CHECK(context.is_first_process());
  CHECK(share_here(context) == 1);
  bool called = false;
  context.in_first_process([&] { called = true; });
  CHECK(called);
}

namespace {

/// What mpirun does to a process that still ends when another has already ended with an error.
struct StoppedAtItsEnd : Cluster {
  ~StoppedAtItsEnd() override {
    alarm(60);
    kill(getpid(), SIGTERM);
    for (;;) pause();
  }
  int process() const override { return 0; }
  int processes() const override { return 2; }
  int processes_here() const override { return 2; }
  std::string library() const override { return "none"; }
  Bytes default_eager_limit() const override { return 0; }
  int agree(int exit_code, std::string&) override { return exit_code; }
  std::unique_ptr<Multicomputer> machine(const Topology&, const Settings&) override {
    return nullptr;
  }
};

}  // namespace

TEST_CASE("a signal after the last word changes neither the exit code nor what was said") {
  const End end = end_of([] {
    const std::array argv{"wormcube",   "run", "alltoall", "--on", "ring:2",
                          "--executor", "mpi", "--bites",  "4"};
    Parts parts;
    parts.start_cluster = []() -> std::unique_ptr<Cluster> {
      return std::make_unique<StoppedAtItsEnd>();
    };
    cli::main(static_cast<int>(argv.size()), argv.data(), parts);
  });
  CHECK(end.signal == 0);
  CHECK(end.exit_code == 2);
  CHECK_THAT(end.text, Contains("unknown option --bites for `run`") && !Contains("SIGTERM"));
}
