// Runs a program on the machine, from loading its images to its end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/core/job.hpp"
#include "wormcube/runtime/base/host/faults.hpp"
#include "wormcube/runtime/machine/machine.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace wormcube::mpi {

struct RunOptions {
  std::string program;
  std::vector<std::string> arguments;  ///< the program's name first
  JobOptions job;
  MachineOptions machine;
  std::chrono::milliseconds time_limit{0};
  /// If all ranks have only polled (MPI_Test, MPI_Iprobe) or waited for this long, calls on_stall()
  /// once with a table of where they are. 0: never.
  std::chrono::milliseconds stall{0};
  std::function<void(const std::string& text)> on_stall = {};
};

/// A program's run. If it ends before its ranks do, they stay where they are, on threads that use
/// this object: the process must then end without destroying anything.
class Run {
 public:
  /// Loads the images and starts the ranks. Throws UsageError.
  Run(const Topology& topology, RunOptions options);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Waits for the end of the run.
  JobEnd wait();
  /// For a run whose ranks have all ended.
  const std::optional<Statistics>& statistics() const { return statistics_; }
  const Job& job() const { return *job_; }
  /// How ranks run: as threads for a program with OpenMP, whatever the options say.
  ExecutorKind ranks_are() const { return options_.machine.executor; }
  bool uses_openmp() const { return images_->uses_openmp(); }

 private:
  std::size_t explain(std::optional<const std::byte*> address, std::span<char> text) const;
  bool wait_and_watch();

  RunOptions options_;
  std::unique_ptr<Images> images_;
  std::unique_ptr<Job> job_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<FaultReports> faults_;
  std::optional<Statistics> statistics_;
  std::thread thread_;
};

/// Where the compiler and the loader find this program's MPI.
struct Kit {
  std::string include, library;
};
/// In the build tree, or next to an installed program. Throws UsageError.
Kit find_kit();

}  // namespace wormcube::mpi
