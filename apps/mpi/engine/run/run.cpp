// A program's run.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/run/run.hpp"

#include "wormcube/apps/mpi/engine/run/deadlock.hpp"
#include "wormcube/apps/mpi/engine/run/functions.hpp"
#include "wormcube/apps/mpi/image/libraries.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/fiber/fiber.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <exception>
#include <filesystem>

#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

extern "C" WormcubeMpiProgram wormcube_mpi_program;

namespace wormcube::mpi {
namespace {

// Images find it by its name, so it is loaded before them.
void load_library(const std::string& folder) {
  wormcube_mpi_program.functions = &provided_functions();
  const std::string path = folder + "/libmpi_abi.so.1";
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL | own_symbols_first()) == nullptr) {
    throw UsageError(fmt::format("cannot load the library of MPI functions: {}", dlerror()));
  }
}

}  // namespace

Kit find_kit() {
  std::array<char, PATH_MAX> own{};
  const ssize_t length = readlink("/proc/self/exe", own.data(), own.size() - 1);
  const std::filesystem::path folder =
      std::filesystem::path(length > 0 ? own.data() : "").parent_path();
  const auto is_there = [](const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
  };
  const auto found = [](const std::filesystem::path& include,
                        const std::filesystem::path& library) {
    return Kit{include.lexically_normal().string(), library.lexically_normal().string()};
  };
  const auto built = folder / "generated/wormcube/mpi";
  if (is_there(built / "mpi.h") && is_there(folder / "mpi/libmpi_abi.so.1")) {
    return found(built, folder / "mpi");
  }
  const auto installed = folder / "../include/wormcube/mpi";
  std::vector<std::filesystem::path> libraries{folder / "../lib", folder / "../lib64"};
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "../lib", ignored)) {
    if (entry.is_directory(ignored)) libraries.push_back(entry.path());
  }
  for (const auto& library : libraries) {
    if (is_there(installed / "mpi.h") && is_there(library / "wormcube/libmpi_abi.so.1")) {
      return found(installed, library / "wormcube");
    }
  }
  throw UsageError(fmt::format(
      "found no mpi.h and libmpi_abi.so.1 for {} (in ../include/wormcube/mpi, ../lib/wormcube): "
      "install all of wormcube, or run it from its build folder",
      own.data()));
}

Run::Run(const Topology& topology, RunOptions options) : options_(std::move(options)) {
  refuse_preloaded_tools();
  load_library(find_kit().library);
  images_ = std::make_unique<Images>(options_.program, options_.job.ranks);
  job_ = std::make_unique<Job>(topology, *images_, options_.job, options_.arguments);
  if (images_->uses_openmp()) options_.machine.executor = ExecutorKind::threads;
  options_.machine.messaging.allow_unreceived = true;
  options_.machine.messaging.deadlock_text = [this](const std::string&,
                                                    std::span<const UnreceivedMessage> messages) {
    constexpr int deadlock_code = 3;
    std::string text = deadlock_text(*job_, messages);
    job_->end(deadlock_code, text);
    return text;
  };
  options_.machine.messaging.on_wrong_message = [this](const WrongMessage& message) {
    job_->wrong_message(message);
  };
  options_.machine.messaging.on_failure = [this](const std::exception_ptr& error) {
    job_->failed(error);
  };
  machine_ = std::make_unique<Machine>(topology, options_.machine);
  faults_ = std::make_unique<FaultReports>(
      [this](auto address, std::span<char> text) { return explain(address, text); });
  thread_ = std::thread([this] {
    try {
      statistics_ = machine_->run([this](Node& node) { job_->run_rank(node); });
      job_->all_ended();
    } catch (const std::exception& error) {
      job_->end(1, error.what());
    }
  });
}

// Runs in a signal handler on the rank's thread.
std::size_t Run::explain(std::optional<const std::byte*> address, std::span<char> text) const {
  if (address && !Fiber::is_below_stack(*address)) return 0;
  const std::size_t begin = job_->explain_fault(text);
  if (!address || begin == 0) return begin;
  constexpr Bytes bytes_of_kib = 1024;
  const auto rest = text.subspan(begin);
  const auto end = fmt::format_to_n(
      rest.data(), rest.size(),
      "stack overflow: {} KiB are used up (deep recursion or a large local array?); set a "
      "larger --stack",
      options_.machine.stack_bytes / bytes_of_kib);
  return begin + std::min<std::size_t>(end.size, rest.size());
}

Run::~Run() {
  if (thread_.joinable()) thread_.join();
}

namespace {

/// Checks now and then whether all ranks only poll.
///
/// Threads  the one that waits for the run's end. It reads only atomics of a rank, while ranks run.
class StallWatch {
 public:
  StallWatch(const Job& job, std::chrono::milliseconds patience)
      : job_(job), patience_(patience), seen_(static_cast<std::size_t>(job.ranks())) {}

  /// True if they have only polled or waited for this long.
  bool look() {
    const auto now = std::chrono::steady_clock::now();
    bool suspicious = true, any_polls = false;
    for (Rank rank = 0; rank < job_.ranks(); ++rank) {
      const RankState& state = job_.rank(rank);
      Seen& seen = seen_[static_cast<std::size_t>(rank)];
      const Seen is{state.calls_done.load(std::memory_order_relaxed),
                    state.unsuccessful_polls.load(std::memory_order_relaxed)};
      const bool polls = is.polls != seen.polls;
      suspicious =
          suspicious && is.done == seen.done && (polls || state.ended || state.call.inside);
      any_polls = any_polls || polls;
      seen = is;
    }
    if (!suspicious || !any_polls) since_ = now;
    return now - since_ >= patience_;
  }

 private:
  struct Seen {
    std::uint64_t done = 0, polls = 0;
  };
  const Job& job_;
  const std::chrono::milliseconds patience_;
  std::vector<Seen> seen_;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

// A failure to make the table does not end the job.
std::string table_of(const Job& job) {
  try {
    return table_of_ranks(job);
  } catch (const std::exception& error) {
    return fmt::format("(cannot list the ranks: {})", error.what());
  }
}

}  // namespace

// True: the job has ended.
bool Run::wait_and_watch() {
  if (options_.stall.count() == 0) return job_->wait_for_end(options_.time_limit);
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds longest{200}, shortest{1};
  const auto interval = std::clamp(options_.stall / 4, shortest, longest);
  const auto begin = Clock::now();
  StallWatch watch(*job_, options_.stall);
  for (bool reported = false;;) {
    const auto gone = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
    const auto left = options_.time_limit - gone;
    if (options_.time_limit.count() > 0 && left.count() <= 0) return false;
    if (job_->wait_for_end(options_.time_limit.count() > 0 ? std::min(interval, left) : interval))
      return true;
    if (reported || !watch.look()) continue;
    reported = true;
    options_.on_stall(
        fmt::format("all ranks have only polled or waited for {} s; the run continues\n{}",
                    static_cast<double>(options_.stall.count()) / 1000, table_of(*job_)));
  }
}

JobEnd Run::wait() {
  constexpr int time_limit_code = 4;
  if (!wait_and_watch()) {
    job_->end(time_limit_code, fmt::format("time limit of {} ms exceeded\n{}",
                                           options_.time_limit.count(), table_of(*job_)));
  }
  const JobEnd end = job_->ended();
  if (end.text.empty()) thread_.join();
  return end;
}

}  // namespace wormcube::mpi
