// The machine: one run after another.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/machine.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/clocks.hpp"
#include "wormcube/runtime/machine/admission.hpp"
#include "wormcube/runtime/machine/machine_impl.hpp"
#include "wormcube/runtime/machine/report/run_statistics.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

Machine::Impl::Impl(const Topology& topology, const MachineOptions& options)
    : options_(options),
      router_settings_(options.transport == Transport::flits
                           ? std::optional(router_settings(topology, options))
                           : std::nullopt),
      network_(admitted(topology, options),
               network_settings(options, router_settings_ ? &*router_settings_ : nullptr), *this),
      router_gates_(router_settings_ ? static_cast<std::size_t>(router_settings_->tasks) : 0),
      nodes_(static_cast<std::size_t>(topology.nodes())) {
  const Rank nodes = topology.nodes();
  const Bytes stack = std::max(options.stack_bytes, MachineOptions::least_stack_bytes);
  const ExecutorSettings settings{.nodes = nodes,
                                  .routers = static_cast<int>(router_gates_.size()),
                                  .stack_bytes = stack,
                                  .workers = options.workers,
                                  .pin = options.pin,
                                  .timing = options.timing};
  executor_ = options.executor == ExecutorKind::threads ? make_thread_executor(*this, settings)
                                                        : make_fiber_executor(*this, settings);
  if (options.lock_step) barrier_.emplace(nodes, *executor_);
  around_.emplace(Surroundings{
      .options = options_,
      .window = options.lock_step ? std::size_t{1} : static_cast<std::size_t>(options.window),
      .network = network_,
      .executor = *executor_,
      .barrier = barrier_ ? &*barrier_ : nullptr,
      .stopping = stopping_,
      .is_large = nodes > 512,
      .may_pass = options.all_port || options.transport == Transport::flits});
  for (Rank rank = 0; rank < nodes; ++rank) nodes_[rank].attach(*around_, rank);
  if (!executor_->is_one_thread()) return;
  network_.use_one_thread();
  for (EmulatedNode& node : nodes_) node.use_one_thread();
  for (RouterGate& each : router_gates_) each.gate.use_one_thread();
}

// In a child process the executor's threads do not exist, so nothing can be joined.
Machine::Impl::~Impl() {
  if (getpid() != process_) static_cast<void>(executor_.release());
}

std::unique_ptr<Machine::Impl> Machine::Impl::make(const Topology& topology,
                                                   const MachineOptions& options) {
  try {
    return std::make_unique<Impl>(topology, options);
  } catch (const std::bad_alloc&) {
    throw UsageError(no_memory_text(topology, options));
  }
}

Statistics Machine::Impl::run(const Program& program) {
  if (getpid() != process_) {
    throw UsageError(
        "run: this process was forked from the one that made the machine, and has none of its "
        "threads; make a machine after fork()");
  }
  if (runs_.test_and_set(std::memory_order_acquire)) {
    throw UsageError("run: this machine is running a program; one run at a time, or two machines");
  }
  struct Release {
    ~Release() { flag.clear(std::memory_order_release); }
    std::atomic_flag& flag;
  } const release{runs_};

  if (std::exchange(dirty_, true)) reset();
  network_.begin_run();
  if (barrier_) barrier_->begin_run();
  stopping_ = false;
  has_failed_.clear();
  exits_are_open_.clear();
  error_ = nullptr;
  thrower_ = unwinding_ = nullptr;
  floating_point_ = FloatingPointState();
  activity_ = Activity::current();
  all_done_ = all_stopped_ = false;
  routers_end_.store(false, std::memory_order_relaxed);
  program_ = &program;

  const auto start = std::chrono::steady_clock::now();
  executor_->start(main_);
  wait_until_done();
  const auto wall = std::chrono::steady_clock::now() - start;

  if (error_ != nullptr) {
    if (thrower_ != nullptr && is_of_one_node(*thrower_)) {
      throw ProgramError(fmt::format("node {}: {}", thrower_->rank(), *thrower_->usage_error));
    }
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
  Statistics result = statistics_of_run(*around_, nodes_, wall, cores_);
  dirty_ = options_.messaging.allow_unreceived;  // messages, and what open requests posted
  return result;
}

void Machine::Impl::reset() {
  network_.reset();
  for (EmulatedNode& node : nodes_) node.reset();
  if (barrier_) barrier_->reset();
  for (RouterGate& each : router_gates_) {
    each.gate.reset();
    each.gate.arm(1);
  }
}

void Machine::Impl::wait_until_done() {
  std::unique_lock lock(mutex_);
  const auto is_done = [&] { return all_done_ && (all_stopped_ || !stopping()); };
  std::exception_ptr thrown;
  const auto limit = waitable(options_.time_limit);
  if (limit.count() > 0 && !done_.wait_for(lock, limit, is_done)) {
    lock.unlock();
    const std::string text =
        fmt::format("not finished after {} ms, the time limit", options_.time_limit.count());
    const bool is_ours = stop(std::make_exception_ptr(TimeLimit(text)));
    lock.lock();
    if (options_.on_overrun && !done_.wait_for(lock, waitable(options_.overrun_grace), is_done)) {
      lock.unlock();
      try {
        options_.on_overrun(fmt::format("{}; {} of {} nodes still run outside of steps", text,
                                        nodes_outside_of_steps(), topology().nodes()));
      } catch (...) {  // the nodes still use what the caller has
        thrown = std::current_exception();
      }
      lock.lock();
    }
    done_.wait(lock, is_done);
    if (is_ours && thrown != nullptr) error_ = thrown;
  }
  done_.wait(lock, is_done);
}

void Machine::Impl::main(Rank rank) noexcept {
  if (rank >= topology().nodes()) return network_.routers()->run(rank - topology().nodes());
  EmulatedNode& node = nodes_[rank];
  if (rank + 1 < topology().nodes()) nodes_[rank + 1].prefetch();
  node.restart();
  floating_point_.restore();
  node.set_stack(__builtin_frame_address(0));
  try {
    (*program_)(node);
    node.end_program();
  } catch (...) {
    caught(rank);
  }
  node.finished.store(true, std::memory_order_relaxed);
  // A node that stop() removed from the barrier has arrived there: it must not arrive again.
  if (!barrier_ || stopping()) return;
  barrier_->finish(rank);
}

void Machine::Impl::all_ended() noexcept {
  const std::lock_guard lock(mutex_);
  all_done_ = true;
  done_.notify_one();  // under the lock: once that is free the machine may be destroyed
}

void Machine::Impl::call_router(int task) noexcept {
  Gate& gate = router_gates_[static_cast<std::size_t>(task)].gate;
  if (gate.call()) wake(number_of_router(task), gate);
}

void Machine::Impl::wait_for_call(int task) {
  Gate& gate = router_gates_[static_cast<std::size_t>(task)].gate;
  if (gate.park()) executor_->block(number_of_router(task), gate);
}

// Fibers share their thread with nodes, which may have more to send.
void Machine::Impl::let_others_run(int task, bool it_moved) {
  if (it_moved && options_.executor == ExecutorKind::threads) return;
  executor_->yield(number_of_router(task));
}

void Machine::Impl::noticed(Rank rank) noexcept {
  if (nodes_[rank].gates.step.call()) wake(rank, nodes_[rank].gates.step);
}

void Machine::Impl::completed(Rank rank) noexcept {
  if (nodes_[rank].gates.step.arrive()) wake(rank, nodes_[rank].gates.step);
}

bool Machine::Impl::give_back(Rank rank, Waiter& waiter) noexcept {
  EmulatedNode& node = nodes_[rank];
  if (!node.inbox.put(waiter)) return false;
  if (node.gates.step.call()) wake(rank, node.gates.step);
  return true;
}

void Machine::Impl::moved_data(Rank rank, std::chrono::nanoseconds time) noexcept {
  nodes_[rank].moving += time;
}

Machine::Machine(const Topology& topology, const MachineOptions& options)
    : impl_(Impl::make(topology, options)) {}
Machine::~Machine() = default;

const Topology& Machine::topology() const { return impl_->topology(); }
const MachineOptions& Machine::options() const { return impl_->options(); }
Statistics Machine::run(const Program& program) { return impl_->run(program); }

Statistics Machine::run(const Program& program, Schedule& trace) {
  trace = {.topology = topology(),
           .ranks = std::vector<RankLog>(static_cast<std::size_t>(topology().nodes()))};
  return impl_->run([&](Node& node) {
    TracingNode traced(node, trace.ranks[static_cast<std::size_t>(node.rank())]);
    program(traced);
  });
}

}  // namespace wormcube
