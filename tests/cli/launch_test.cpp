// A program that mpirun has started several times, without knowing it. With a real mpirun:
// tests/mpi.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/core/launch.hpp"

#include "wormcube/tests/cli/program.hpp"

#include <map>
#include <string>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::cli;
using namespace wormcube::test;
using Catch::Matchers::Contains;

namespace {

std::optional<Launch> launch_with(const std::map<std::string, std::string>& environment) {
  return launch_of_several([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

}  // namespace

TEST_CASE("each launcher is recognised by the environment that it sets") {
  const auto open_mpi = launch_with({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}});
  REQUIRE(open_mpi);
  CHECK(open_mpi->processes == 4);
  CHECK(open_mpi->process == 3);
  CHECK_FALSE(open_mpi->is_first());
  CHECK_THAT(open_mpi->launcher, Contains("Open MPI"));
  const auto mpich = launch_with({{"PMI_SIZE", "2"}, {"PMI_RANK", "0"}});
  REQUIRE(mpich);
  CHECK(mpich->is_first());
  CHECK_THAT(mpich->launcher, Contains("MPICH"));
  for (const char* variable : {"SLURM_STEP_NUM_TASKS", "PMI_SIZE"}) {
    const auto slurm = launch_with({{variable, "8"}, {"SLURM_STEP_NUM_TASKS", "8"}});
    REQUIRE(slurm);
    CHECK_THAT(slurm->launcher, Contains("Slurm"));
  }
  // MPICH's mpirun inside an allocation starts its helpers, one on each computer, by srun.
  const auto nested = launch_with({{"PMI_SIZE", "8"}, {"SLURM_STEP_NUM_TASKS", "2"}});
  REQUIRE(nested);
  CHECK_THAT(nested->launcher, Contains("MPICH"));
  CHECK(nested->processes == 8);
  const auto pmix = launch_with({{"PMIX_RANK", "1"}});
  REQUIRE(pmix);
  CHECK(pmix->is_first());
}

TEST_CASE("a process alone is no launch of several") {
  CHECK_FALSE(launch_with({}));
  CHECK_FALSE(launch_with({{"OMPI_COMM_WORLD_SIZE", "1"}}));
  CHECK_FALSE(launch_with({{"PMI_SIZE", "1"}, {"SLURM_STEP_NUM_TASKS", "4"}}));
  CHECK_FALSE(launch_with({{"SLURM_NTASKS", "4"}}));  // a batch script
  CHECK_FALSE(launch_with({{"PMIX_RANK", "0"}}));
  CHECK_FALSE(launch_with({{"PMI_SIZE", "many"}}));
  CHECK_FALSE(launch_with({{"PMI_SIZE", ""}}));
}

TEST_CASE("the error names the launcher, the library, and what to do") {
  const Launch by_mpich{"MPICH's mpirun", "PMI_SIZE", 4, 0};
  CHECK_THAT(wrongly_started(by_mpich, true, "Open MPI v4.1.4"),
             Contains("one of 4 processes by MPICH's mpirun (PMI_SIZE)") &&
                 Contains("built with Open MPI v4.1.4") && Contains("mpirun.openmpi"));
  CHECK_THAT(wrongly_started(by_mpich, true, ""), Contains("built without MPI"));
  CHECK_THAT(wrongly_started(by_mpich, false, "Open MPI v4.1.4"),
             Contains("without --executor mpi") && Contains("mpi+fibers"));
  CHECK_THAT(wrongly_started({"Slurm's srun", "SLURM_STEP_NUM_TASKS", 4, 0}, true, "MPICH 4.0.2"),
             Contains("srun --mpi=list"));
}

TEST_CASE("one of several speaks, the others are silent") {
  const std::string first = "OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0",
                    last = "OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=3";
  const auto run = [](const std::string& environment, const std::string& arguments) {
    return run_wormcube(arguments, environment);
  };
  for (const char* command : {"check barrier --on ring:4", "run barrier --on ring:4",
                              "transpose --on ring:4", "no-command"}) {
    const Output spoken = run(first, command);
    CHECK(spoken.exit == 2);
    CHECK(spoken.out.empty());
    CHECK_THAT(spoken.err, Contains("started as one of 4 processes by Open MPI's mpirun"));
    const Output silent = run(last, command);
    CHECK(silent.exit == 0);
    CHECK(silent.out.empty());
    CHECK(silent.err.empty());
  }
  CHECK(run(first, "--version").out.starts_with("wormcube 1."));
  CHECK(run(last, "--version").out.empty());
  CHECK(run(first, "run --help").exit == 0);
  CHECK(run("OMPI_COMM_WORLD_SIZE=1", "check barrier --on ring:4").exit == 0);
}
