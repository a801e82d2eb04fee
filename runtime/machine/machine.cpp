// The machine: one run after the other, what ends it, and what happens when all wait or one fails.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/machine.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/fiber/fiber.hpp"
#include "wormcube/runtime/base/host/clocks.hpp"
#include "wormcube/runtime/base/host/cores.hpp"
#include "wormcube/runtime/base/host/faults.hpp"
#include "wormcube/runtime/base/host/floating_point.hpp"
#include "wormcube/runtime/base/host/huge_pages.hpp"
#include "wormcube/runtime/machine/admission.hpp"
#include "wormcube/runtime/machine/executor/executor.hpp"
#include "wormcube/runtime/machine/executor/padded.hpp"
#include "wormcube/runtime/machine/failure.hpp"
#include "wormcube/runtime/machine/node/emulated_node.hpp"
#include "wormcube/runtime/machine/report/deadlock_report.hpp"
#include "wormcube/runtime/machine/report/run_statistics.hpp"
#include "wormcube/runtime/network/network.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

namespace wormcube {

/// Threads       run, wait_until_done: one at a time, from outside. completed, failed, stop, all_wait:
///               any. main, caught: each node for itself.
/// Invariants    the executor knows when no node runs and none is being woken (all_wait): with nodes
///               unfinished, that is a deadlock. Since worms are only moved by running nodes, nothing
///               is in flight then. Once the machine stops, no node that is woken enters the network
///               again. A run that ends well leaves network and gates as it found them; so only after
///               a failure (dirty_) is anything reset.
/// Memory order  who is told that all wait sees what all did before they parked (ExecutorHost); so it
///               may read all nodes' state. Who claims a failure writes error_ and thrower_ (of a
///               deadlock unwinding_, too), and publishes them by stopping_ (release). After that the
///               node unwinding_ alone may write the first two again, before it ends.
class Machine::Impl final : public NetworkHost, public ExecutorHost {
 public:
  Impl(const Topology& topology, const MachineOptions& options);
  ~Impl() override;
  static std::unique_ptr<Impl> make(const Topology& topology, const MachineOptions& options);

  Statistics run(const Program& program);
  const Topology& topology() const { return network_.routing().topology(); }
  const MachineOptions& options() const { return options_; }

 private:
  void completed(Rank node) noexcept override;
  void noticed(Rank node) noexcept override;
  void wrong(const WrongMessage& message) noexcept override;
  void failed(Rank node, std::uint64_t step, std::exception_ptr error) noexcept override;
  bool give_back(Rank node, Waiter& waiter) noexcept override;
  std::chrono::nanoseconds own_time() noexcept override { return executor_->own_time(); }
  void moved_data(Rank node, std::chrono::nanoseconds time) noexcept override;
  void all_wait() noexcept override;
  void all_ended() noexcept override;
  void stop_nodes() noexcept override;
  bool stop(std::exception_ptr error, const EmulatedNode* thrower = nullptr) noexcept;
  bool claim_failure() noexcept { return !has_failed_.test_and_set(std::memory_order_acq_rel); }
  void stop_all(std::exception_ptr error, const EmulatedNode* thrower) noexcept;
  Rank nodes_outside_of_steps() const;
  void wait_until_done();
  void reset();
  bool is_of_one_node(const EmulatedNode& thrower) const;
  void main(Rank rank) noexcept;
  void caught(Rank rank) noexcept;
  void report(Rank rank, std::exception_ptr error, bool is_usage_error = false) noexcept;
  void wake(Rank rank, Gate& gate) noexcept { executor_->wake(rank, gate); }
  bool stopping() const noexcept { return stopping_.load(std::memory_order_acquire); }
  std::size_t explain(std::optional<const std::byte*> address, std::span<char> text) const;

  MachineOptions options_;
  Network network_;
  std::vector<EmulatedNode, HugePages<EmulatedNode>> nodes_;
  std::optional<StepBarrier> barrier_;  // of the lock step
  std::optional<Surroundings> around_;  // the nodes'

  Padded<bool> stopping_{false};  // read in every step
  std::atomic_flag exits_are_open_;
  std::atomic_flag runs_;  // somebody is in run()
  bool dirty_ = false;     // the last run has left something behind
  const pid_t process_ = getpid();
  const int cores_ = usable_cores();
  std::atomic_flag has_failed_;
  std::exception_ptr error_;
  const EmulatedNode* thrower_ = nullptr;  // whose program threw error_, if that is a UsageError
  // Whose exception led to the Deadlock in error_, and replaces it.
  const EmulatedNode* unwinding_ = nullptr;
  FloatingPointState floating_point_;  // that nodes begin with: that of who called run()

  std::mutex mutex_;  // guards these, for the thread that called run()
  std::condition_variable done_;
  bool all_done_ = false;
  bool all_stopped_ = false;  // if the machine stops

  const Program* program_ = nullptr;
  const std::function<void(Rank)> main_ = [this](Rank rank) { main(rank); };
  const FaultReports faults_{
      [this](auto address, std::span<char> text) { return explain(address, text); }};
  std::unique_ptr<NodeExecutor> executor_;  // last: its threads end before the rest does
};

Machine::Impl::Impl(const Topology& topology, const MachineOptions& options)
    : options_(options),
      network_(admitted(topology, options), network_settings(options), *this),
      nodes_(static_cast<std::size_t>(topology.nodes())) {
  const Rank nodes = topology.nodes();
  const Bytes stack = std::max(options.stack_bytes, MachineOptions::least_stack_bytes);
  const ExecutorSettings settings{.nodes = nodes,
                                  .stack_bytes = stack,
                                  .workers = options.workers,
                                  .pin = options.pin,
                                  .timing = options.timing};
  executor_ = options.nodes_as == NodesAs::threads ? make_thread_executor(*this, settings)
                                                   : make_fiber_executor(*this, settings);
  if (options.lock_step) barrier_.emplace(nodes, *executor_);
  around_.emplace(Surroundings{
      .options = options_,
      .window = options.lock_step ? std::size_t{1} : static_cast<std::size_t>(options.window),
      .network = network_,
      .executor = *executor_,
      .barrier = barrier_ ? &*barrier_ : nullptr,
      .stopping = stopping_,
      .is_large = nodes > 512});
  for (Rank rank = 0; rank < nodes; ++rank) nodes_[rank].attach(*around_, rank);
  if (!executor_->is_one_thread()) return;
  network_.use_one_thread();
  for (EmulatedNode& node : nodes_) node.use_one_thread();
}

// In a child process none of the executor's threads is there: nothing can be joined.
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
        "run: this process was forked from the one that made the machine, whose threads are there; "
        "make a machine after fork()");
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
  all_done_ = all_stopped_ = false;
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
  dirty_ = options_.messaging.allow_unreceived;  // messages, and what open requests have posted
  return result;
}

void Machine::Impl::reset() {
  network_.reset();
  for (EmulatedNode& node : nodes_) node.reset();
  if (barrier_) barrier_->reset();
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
        options_.on_overrun(fmt::format("{}; {} of {} nodes run on outside of steps", text,
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

// Whether a UsageError of a node's program is its own: another node has thrown a different one, or
// has got further than the step in which it was thrown. Otherwise it is of the arguments that all
// nodes share, or the others were stopped before they came to it.
bool Machine::Impl::is_of_one_node(const EmulatedNode& thrower) const {
  return std::ranges::any_of(nodes_, [&](const EmulatedNode& node) {
    if (node.usage_error) return *node.usage_error != *thrower.usage_error;
    return !node.stopped || node.statistics.steps >= thrower.statistics.steps;
  });
}

void Machine::Impl::main(Rank rank) noexcept {
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
  // A node that stop() took out of the barrier has arrived there: it must not again.
  if (!barrier_ || stopping()) return;
  barrier_->finish(rank);
}

void Machine::Impl::all_ended() noexcept {
  const std::lock_guard lock(mutex_);
  all_done_ = true;
  done_.notify_one();  // under the lock: once it is free the machine may be gone
}

// Of a run that is being stopped: those that have not ended and do not wait.
Rank Machine::Impl::nodes_outside_of_steps() const {
  return static_cast<Rank>(std::ranges::count_if(nodes_, [&](const EmulatedNode& node) {
    return !node.finished.load(std::memory_order_relaxed) && !node.gates.step.is_parked() &&
           !node.gates.exit.is_parked() && !(barrier_ && barrier_->is_parked(node.rank()));
  }));
}

// The exception being handled has left this node's program.
void Machine::Impl::caught(Rank rank) noexcept {
  EmulatedNode& node = nodes_[rank];
  // Where one of its steps never completes, the program would have thrown this only after it.
  if (!node.complete_all()) return;
  try {
    throw;
  } catch (const Stopped&) {
    // Another node's failure is the one to report.
  } catch (const UsageErrorOfNode&) {
    report(rank, std::current_exception());
  } catch (const UsageError& error) {
    try {
      node.usage_error = std::make_unique<std::string>(error.what());
      report(rank, std::current_exception(), true);
    } catch (...) {
      report(rank, std::current_exception());
    }
  } catch (...) {
    report(rank, error_of_node(rank, std::current_exception()));
  }
}

void Machine::Impl::report(Rank rank, std::exception_ptr error, bool is_usage_error) noexcept {
  const EmulatedNode& node = nodes_[rank];
  const EmulatedNode* const thrower = is_usage_error ? &node : nullptr;
  if (stop(error, thrower) || &node != unwinding_) return;
  error_ = std::move(error);
  thrower_ = thrower;
}

void Machine::Impl::wrong(const WrongMessage& message) noexcept {
  if (!options_.messaging.on_wrong_message) return;
  try {
    options_.messaging.on_wrong_message(message);
  } catch (...) {
    stop(std::current_exception());
  }
}

void Machine::Impl::failed(Rank rank, std::uint64_t step, std::exception_ptr error) noexcept {
  stop(error_of_step(rank, step, std::move(error)));
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

// A deadlock; or, if the machine stops, the end of all traffic. It stops before it wakes anyone, so
// that what waits now never enters the network again.
void Machine::Impl::all_wait() noexcept {
  if (stopping()) {
    if (exits_are_open_.test_and_set(std::memory_order_acq_rel)) return;
    for (EmulatedNode& node : nodes_) {
      if (node.gates.exit.arrive()) wake(node.rank(), node.gates.exit);
    }
    return;
  }
  if (!claim_failure()) return;  // somebody else is about to stop the machine, from outside
  const auto unwinding = std::ranges::find_if(nodes_, &EmulatedNode::is_unwinding);
  if (unwinding != nodes_.end()) unwinding_ = &*unwinding;
  std::exception_ptr error;
  try {
    std::string text = deadlock_table(network_, nodes_, barrier_ ? &*barrier_ : nullptr);
    if (options_.messaging.deadlock_text)
      text = options_.messaging.deadlock_text(text, network_.unreceived());
    error = std::make_exception_ptr(Deadlock(text));
  } catch (...) {
    error = std::current_exception();
  }
  stop_all(std::move(error), nullptr);
}

// The first to come gives the error that run() throws; true for it.
bool Machine::Impl::stop(std::exception_ptr error, const EmulatedNode* thrower) noexcept {
  if (!claim_failure()) return false;
  stop_all(std::move(error), thrower);
  return true;
}

void Machine::Impl::stop_all(std::exception_ptr error, const EmulatedNode* thrower) noexcept {
  if (options_.messaging.on_failure) options_.messaging.on_failure(error);
  error_ = std::move(error);
  thrower_ = thrower;
  stopping_.store(true, std::memory_order_release);
  executor_->stop();
}

// Once a run; run() does not return before it has.
void Machine::Impl::stop_nodes() noexcept {
  for (EmulatedNode& node : nodes_) {
    if (node.gates.step.stop()) wake(node.rank(), node.gates.step);
  }
  if (barrier_) barrier_->stop();
  executor_->end_sleep();
  const std::lock_guard lock(mutex_);
  all_stopped_ = true;
  done_.notify_one();  // under the lock, as in all_ended()
}

// The report of a node's stack that is used up, in that node's thread.
std::size_t Machine::Impl::explain(std::optional<const std::byte*> address,
                                   std::span<char> text) const {
  const Rank rank = executor_ != nullptr ? executor_->running_here() : -1;
  if (rank < 0 || (address && !Fiber::is_below_stack(*address))) return 0;
  const auto end = fmt::format_to_n(
      text.data(), text.size(), "{}node {}, step {} on {}: {}", Activity::prefix(), rank,
      nodes_[static_cast<std::size_t>(rank)].statistics.steps, topology().name(),
      address ? "a node program has used up its stack (too deep a recursion, or too large a local "
                "array?)"
              : "");
  return std::min<std::size_t>(end.size, text.size());
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
