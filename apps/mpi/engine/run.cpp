// A program's run.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/run.hpp"

#include "wormcube/runtime/error.hpp"

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
    throw UsageError(fmt::format("the library of MPI's functions cannot be loaded: {}", dlerror()));
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
      "mpi.h and libmpi_abi.so.1 are not beside {} (../include/wormcube/mpi, ../lib/wormcube): "
      "install wormcube whole, or use it where it was built",
      own.data()));
}

Run::Run(const Topology& topology, RunOptions options) : options_(std::move(options)) {
  load_library(find_kit().library);
  images_ = std::make_unique<Images>(options_.program, options_.job.ranks);
  job_ = std::make_unique<Job>(topology, *images_, options_.job, options_.arguments);
  options_.machine.allow_unreceived = true;
  options_.machine.deadlock_text = [this](const std::string&,
                                          std::span<const UnreceivedMessage> messages) {
    return job_->deadlock(messages);
  };
  machine_ = std::make_unique<Machine>(topology, options_.machine);
  faults_ = std::make_unique<FaultReports>([this](auto address, std::span<char> text) {
    return address ? std::size_t{0} : job_->explain_fault(text);
  });
  thread_ = std::thread([this] {
    try {
      statistics_ = machine_->run([this](Node& node) { job_->run_rank(node); });
      job_->all_ended();
    } catch (const std::exception& error) {
      job_->end(1, error.what());
    }
  });
}

Run::~Run() {
  if (thread_.joinable()) thread_.join();
}

JobEnd Run::wait() {
  constexpr int time_limit_code = 4;
  if (!job_->wait_for_end(options_.time_limit)) {
    job_->end(time_limit_code, fmt::format("not finished after {} ms, the time limit\n{}",
                                           options_.time_limit.count(), job_->table_of_ranks()));
  }
  const JobEnd end = job_->ended();
  if (end.text.empty()) thread_.join();
  return end;
}

}  // namespace wormcube::mpi
