// The machine.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/machine.hpp"

#include "wormcube/apps/cli/core/time_limited.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/cores.hpp"
#include "wormcube/runtime/machine/executor/executor.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace wormcube::cli {

constexpr int most_workers = 1024;

void add_virtual_channels_option(CLI::App& app, int& virtual_channels) {
  app.add_option("--virtual-channels", virtual_channels,
                 "Virtual channels per link of a ring: 2 (a dateline then keeps rings free of "
                 "deadlock) or 1")
      ->type_name("1|2")
      ->check(between(1, 2))
      ->capture_default_str()
      ->group("Machine");
}

void add_machine_options(CLI::App& app, MachineFlags& flags, Executors executors) {
  const bool all = executors == Executors::all;
  app.add_option("--executor", flags.executor,
                 all ? "Run each node as an OS thread or a fiber of this process; or, under your "
                       "MPI's mpirun (not `wormcube mpirun`), as an MPI process or as one of "
                       "several fibers of an MPI process"
                     : "Run each node as an OS thread or a fiber of this process")
      ->type_name(all ? "threads|fibers|mpi|mpi+fibers" : "threads|fibers")
      ->check(all ? one_of({"threads", "fibers", "mpi", "mpi+fibers"})
                  : one_of({"threads", "fibers"}))
      ->capture_default_str()
      ->group("Machine");
  std::string eager_limit =
      "Keep unexpected messages up to this size at the receiver; a longer send completes when it "
      "is "
      "received";
  if (all) {
    eager_limit +=
        ". With --executor mpi, messages up to this size are sent eagerly (default: "
        "4064)";
  }
  flags.eager_limit_option =
      app.add_option("--eager-limit", flags.eager_limit, std::move(eager_limit))
          ->type_name("N[K|M|G]")
          ->capture_default_str()
          ->group("Machine");
  if (all) add_transport_options(app, flags.transport);
  add_virtual_channels_option(app, flags.virtual_channels);
  app.add_flag("--lockstep", flags.lock_step, "Synchronise all nodes after each step")
      ->group("Machine");
  app.add_option("--window", flags.window,
                 "Number of steps that a node may have in progress at once (1 with --lockstep); "
                 "affects times, not results")
      ->type_name("N")
      ->check(between(1, MachineOptions::most_window))
      ->capture_default_str()
      ->group("Machine");
  app.add_option("--workers", flags.workers,
                 "Number of worker threads that run the fibers, at most one per node (0: one per "
                 "usable core)")
      ->type_name("N")
      ->check(between(0, most_workers))
      ->capture_default_str()
      ->group("Machine");
  app.add_flag("--pin", flags.pin,
               "Pin each worker to a core; node threads are assigned to cores in contiguous blocks")
      ->group("Machine");
  add_time_limit_option(app, flags.time_limit, "Machine");
}

void require_workers(const MachineFlags& flags, const Topology& topology) {
  if (flags.executor == "threads") require_threads(topology.nodes());
  if (flags.workers == 0 || flags.in_processes()) return;
  if (flags.executor == "threads") {
    throw UsageError(
        fmt::format("--workers {} has no effect with --executor threads: each of the {} nodes is a "
                    "thread; use --executor fibers",
                    flags.workers, topology.nodes()));
  }
  if (flags.workers > topology.nodes()) {
    throw UsageError(fmt::format(
        "--workers {}: {} has {} node{}, and each worker needs one; use --workers {} or fewer",
        flags.workers, topology.name(), topology.nodes(), topology.nodes() == 1 ? "" : "s",
        topology.nodes()));
  }
  const auto cores = bound_core_numbers().size();
  if (flags.pin && cores > 0 && static_cast<std::size_t>(flags.workers) > cores) {
    throw UsageError(
        fmt::format("--workers {}: {} workers cannot have a core each, because the process is "
                    "bound to {}; use --workers {} or fewer, or leave out --pin",
                    flags.workers, flags.workers, cores, cores));
  }
}

namespace {

void add_limit(CLI::App& app, double& seconds, const std::string& group, const std::string& text) {
  app.add_option("--time-limit", seconds, text)
      ->type_name("SECONDS")
      ->check(between(0, 1e6))
      ->capture_default_str()
      ->group(group);
}

}  // namespace

void add_time_limit_option(CLI::App& app, double& seconds, const std::string& group) {
  add_limit(app, seconds, group,
            "Stop each run or dry run after this many seconds (exit code 4; 0: no limit)");
}

void add_command_limit_option(CLI::App& app, double& seconds) {
  add_limit(app, seconds, "Limits",
            "Stop the command after this many seconds (exit code 4; 0: no limit)");
}

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::milliseconds(static_cast<long>(std::ceil(seconds * 1000)));
}

std::chrono::milliseconds MachineFlags::time_limit_ms() const {
  return milliseconds_of(time_limit);
}

bool MachineFlags::chooses_workers(Rank nodes) const {
  return executor == "fibers" && workers == 0 && std::min(usable_cores(), nodes) > 1;
}

MachineOptions MachineFlags::resolve(Context& context, bool all_port) const {
  MachineOptions options;
  options.executor = executor == "fibers" ? ExecutorKind::fibers : ExecutorKind::threads;
  options.all_port = all_port;
  options.virtual_channels = virtual_channels;
  transport.resolve(options);
  options.eager_limit = parse_bytes(eager_limit);
  options.lock_step = lock_step;
  options.window = lock_step ? 1 : window;
  options.workers = workers;
  options.pin = pin;
  options.time_limit = time_limit_ms();
  options.on_overrun = [&context](const std::string& text) { end_over_time_limit(context, text); };
  return options;
}

std::string machine_text(const MachineOptions& options) {
  return fmt::format(
      "nodes as {}{}, {}, eager limit {}, {} virtual channels per ring link, {}, {}",
      options.executor == ExecutorKind::threads ? std::string("threads")
      : options.workers == 0
          ? std::string("fibers")
          : fmt::format("fibers on {} worker{}", options.workers, options.workers == 1 ? "" : "s"),
      options.pin ? " pinned to cores" : "", transport_text(options),
      bytes_text(static_cast<double>(options.eager_limit)), options.virtual_channels,
      options.lock_step ? "lock step"
      : options.window == 1
          ? "free running"
          : fmt::format("free running with up to {} steps at once", options.window),
      options.time_limit.count() > 0
          ? fmt::format("time limit {} s", static_cast<double>(options.time_limit.count()) / 1000)
          : "no time limit");
}

}  // namespace wormcube::cli
