// The machine's components, and what its nodes, its network and its executor report to it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/host/cores.hpp"
#include "wormcube/runtime/base/host/faults.hpp"
#include "wormcube/runtime/base/host/floating_point.hpp"
#include "wormcube/runtime/base/host/huge_pages.hpp"
#include "wormcube/runtime/machine/executor/executor.hpp"
#include "wormcube/runtime/machine/executor/padded.hpp"
#include "wormcube/runtime/machine/machine.hpp"
#include "wormcube/runtime/machine/node/emulated_node.hpp"
#include "wormcube/runtime/network/network.hpp"
#include "wormcube/runtime/network/routers.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <unistd.h>

namespace wormcube {

/// Threads       run, wait_until_done: one at a time, from outside. completed, failed, stop,
///               all_wait: any. main, caught: each node for itself.
/// Invariants    the executor knows when no node or router runs and none is being woken (all_wait):
///               with nodes unfinished, that is a deadlock; with none, it ends the routers. Since
///               worms are only moved by running nodes and routers, nothing moves then. Once the
///               machine stops, no node that is woken enters the network again, and no router moves
///               anything. A run that ends well leaves network and gates as it found them; so only
///               after a failure (dirty_) is anything reset.
/// Memory order  whoever receives all_wait sees what all did before they parked (ExecutorHost), so
///               it may read all nodes' state. Whoever claims a failure writes error_ and thrower_
///               (for a deadlock unwinding_, too), and publishes them by stopping_ (release). After
///               that the node unwinding_ alone may write the first two again, before it ends.
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
  void call_router(int task) noexcept override;
  void answer_calls(int task) noexcept override { router_gates_[task].gate.answer(); }
  void wait_for_call(int task) override;
  void let_others_run(int task, bool it_moved) override;
  bool all_nodes_have_ended() const noexcept override {
    return routers_end_.load(std::memory_order_acquire);
  }
  bool is_stopping() const noexcept override { return stopping(); }
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
  Rank number_of_router(int task) const { return topology().nodes() + task; }
  bool end_routers() noexcept;
  bool stopping() const noexcept { return stopping_.load(std::memory_order_acquire); }
  std::size_t explain(std::optional<const std::byte*> address, std::span<char> text) const;

  struct alignas(64) RouterGate {
    RouterGate() { gate.arm(1); }  // nobody arrives: a router is called
    Gate gate;
  };

  MachineOptions options_;
  std::optional<RouterSettings> router_settings_;  // with Transport::flits
  Network network_;
  std::deque<RouterGate> router_gates_;
  std::atomic<bool> routers_end_{false};  // all nodes have ended
  std::vector<EmulatedNode, HugePages<EmulatedNode>> nodes_;
  std::optional<StepBarrier> barrier_;  // of the lock step
  std::optional<Surroundings> around_;  // the nodes'

  Padded<bool> stopping_{false};  // read in every step
  std::atomic_flag exits_are_open_;
  std::atomic_flag runs_;  // a call of run() is in progress
  bool dirty_ = false;     // the last run left something behind
  const pid_t process_ = getpid();
  const int cores_ = usable_cores();
  std::atomic_flag has_failed_;
  std::exception_ptr error_;
  const EmulatedNode* thrower_ = nullptr;  // whose program threw error_, if that is a UsageError
  // Whose exception led to the Deadlock in error_, and replaces it.
  const EmulatedNode* unwinding_ = nullptr;
  FloatingPointState floating_point_;   // that nodes begin with: run()'s caller's
  const Activity* activity_ = nullptr;  // of run()'s caller, which waits while nodes run

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

}  // namespace wormcube
