// The launcher of this process.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/core/launch.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

constexpr const char* of_open_mpi = "Open MPI's mpirun";
constexpr const char* of_mpich = "the mpirun of MPICH or a relative";
constexpr const char* of_slurm = "Slurm's srun";

std::string start_text(const Launch& launch) {
  return launch.processes > 0 ? fmt::format("started as one of {} processes by {} ({})",
                                            launch.processes, launch.launcher, launch.variable)
                              : fmt::format("started as one of several processes by {} ({})",
                                            launch.launcher, launch.variable);
}

}  // namespace

std::optional<Launch> launch_of_several(
    const std::function<const char*(const char*)>& environment) {
  const auto number = [&](const char* variable) -> std::optional<int> {
    const char* const text = environment ? environment(variable) : std::getenv(variable);
    if (text == nullptr) return {};
    const std::string_view digits(text);
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value < 0) return {};
    return value;
  };
  // Open MPI and MPICH start their own helpers by srun, so Slurm comes last.
  const struct {
    const char *launcher, *size, *rank;
  } known[] = {{of_open_mpi, "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
               {of_mpich, "PMI_SIZE", "PMI_RANK"},
               {of_slurm, "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};
  for (const auto& [launcher, size, rank] : known) {
    const std::optional<int> processes = number(size);
    if (!processes) continue;
    if (*processes <= 1) return {};
    // srun --mpi=pmi2 uses the same interface as MPICH's mpirun.
    const bool by_slurm = launcher == of_mpich && number("SLURM_STEP_NUM_TASKS") == processes;
    return Launch{by_slurm ? of_slurm : launcher, size, *processes, number(rank).value_or(0)};
  }
  // PMIx alone gives only the rank; the first process cannot know of others.
  if (const int rank = number("PMIX_RANK").value_or(0); rank > 0) {
    return Launch{"a launcher that speaks PMIx", "PMIX_RANK", 0, rank};
  }
  return {};
}

std::string wrongly_started(const Launch& launch, bool wants, const std::string& library) {
  if (!wants) {
    return fmt::format(
        "{}, but without --executor mpi or mpi+fibers each process would do all the work; {}, or "
        "start wormcube once, without mpirun (or unset {} to run it several times)",
        start_text(launch),
        library.empty() ? "this wormcube was built without MPI: install an MPI library (Debian: "
                          "libopenmpi-dev openmpi-bin, or libmpich-dev mpich) and rebuild"
                        : "add --executor mpi+fibers to share the work",
        launch.variable);
  }
  if (library.empty()) {
    return fmt::format(
        "{}, but this wormcube was built without MPI; install an MPI library (Debian: "
        "libopenmpi-dev openmpi-bin, or libmpich-dev mpich) and rebuild",
        start_text(launch));
  }
  const std::string_view way_out =
      launch.launcher == of_slurm
          ? "choose the interface that the library supports (`srun --mpi=list` lists them: pmix "
            "for Open MPI, pmi2 or pmix for MPICH)"
      : library.starts_with("Open MPI")
          ? "use Open MPI's mpirun (Debian: mpirun.openmpi)"
          : "use that library's mpirun (MPICH on Debian: mpirun.mpich)";
  return fmt::format(
      "{}, but this wormcube is built with {}, which finds only one process; {}, or build with the "
      "other MPI (-D MPI_CXX_COMPILER=mpicxx.openmpi or mpicxx.mpich)",
      start_text(launch), library, way_out);
}

bool wants_cluster(int argc, const char* const* argv) {
  constexpr std::string_view option = "--executor";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == option && i + 1 < argc && std::string_view(argv[i + 1]).starts_with("mpi")) {
      return true;
    }
    if (word.starts_with("--executor=mpi")) return true;
  }
  return false;
}

}  // namespace wormcube::cli
