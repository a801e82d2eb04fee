// A node of the machine: what its program sees, and how it waits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/executor/executor.hpp"
#include "wormcube/runtime/machine/executor/gate.hpp"
#include "wormcube/runtime/machine/executor/step_barrier.hpp"
#include "wormcube/runtime/machine/node/arena.hpp"
#include "wormcube/runtime/machine/node/node_figures.hpp"
#include "wormcube/runtime/machine/node/step_window.hpp"
#include "wormcube/runtime/machine/options.hpp"
#include "wormcube/runtime/machine/requests/request_table.hpp"
#include "wormcube/runtime/network/inbox.hpp"
#include "wormcube/runtime/network/network.hpp"
#include "wormcube/runtime/node/requests.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace wormcube {

/// What all nodes of a machine have in common.
struct Surroundings {
  const MachineOptions& options;
  std::size_t window;  ///< steps under way at once; in lock step 1
  Network& network;
  NodeExecutor& executor;
  StepBarrier* barrier;  ///< of the lock step; null: there is none
  const std::atomic<bool>& stopping;
  bool is_large;  ///< nodes are in no cache that is near
  /// A message may pass an earlier one of its node on another path: with all ports; and in flits,
  /// where a port is free when the tail has left.
  bool may_pass;

  bool is_stopping() const noexcept { return stopping.load(std::memory_order_acquire); }
};

/// A node's gates. Others arrive at `step` all the time, so it has its own cache line while the
/// node is not about to stop.
struct alignas(64) Gates {
  Gate step;
  Gate exit;  ///< opens when no node is in the network any more; then stays open
};

/// Threads     the node's own, except finished, gates and inbox; and `moving`, which belongs to the
///             thread that moves data for the node. Between runs, and while all wait: the thread
///             that runs the machine.
/// Invariants  once the machine stops, a node that waits in a step waits at its exit gate before
///             its stack unwinds, until no node runs: until then another may still copy from or to
///             its memory. It forgets the run before when its next one starts.
class EmulatedNode final : public RequestNode, public RequestHost {
  // First what each run touches, so that a run of a million nodes that do nothing is short.
  const Surroundings* around_ = nullptr;
  Rank rank_ = 0;
  int steps_in_a_row_ = 0;
  bool progressing_ = false, is_unwinding_ = false;
  ProgressEngine* progress_engine_ = nullptr;
  Arena arena_;

 public:
  EmulatedNode() { gates.exit.arm(1); }
  /// Once, before anything else.
  void attach(const Surroundings& around, Rank rank) {
    around_ = &around;
    rank_ = rank;
    steps_.set_size(around.window);
  }

  /// Once, before anything else: all nodes run on one thread.
  void use_one_thread() {
    gates.step.use_one_thread();
    gates.exit.use_one_thread();
    inbox.use_one_thread();
  }

  Rank rank() const override { return rank_; }
  const Topology& topology() const override { return around_->network.routing().topology(); }
  using Node::step;
  void step(std::span<const Op> ops) override;
  Requests& requests() override {
    if (requests_ == nullptr) {
      requests_ =
          std::make_unique<RequestTable>(*this, rank_, size(), around_->options.messaging.shuffle);
    }
    return *requests_;
  }

  /// At the start of its program: discards the previous run's state.
  void restart();
  /// Fetches what restart() will touch, without waiting for it.
  void prefetch() const {
    constexpr int lines = 4;
    for (int i = 0; i < lines; ++i) {
      __builtin_prefetch(reinterpret_cast<const std::byte*>(this) + 64 * i, 1);
    }
  }
  /// The same of what a message to it will touch.
  void prefetch_receive() const {
    __builtin_prefetch(&gates, 1);
    steps_.prefetch_receive();
  }
  /// Where its program begins: what lies beyond on the stack does not belong to the program.
  void set_stack(const void* begin) { stack_ = reinterpret_cast<std::uintptr_t>(begin); }
  /// At the end of its program. Throws UsageError if a request is open.
  void end_program();
  /// Waits until all its steps are complete. False: the machine stops; then no step is under way.
  bool complete_all() noexcept { return complete(steps_.open()); }
  /// Between runs, after one that failed.
  void reset();

  /// Whether it waits for requests while an exception propagates through its program. Valid while
  /// it waits.
  bool is_unwinding() const { return is_unwinding_; }

  /// Calls f(worm) or f(receive) for each end of a message that is under way. While it waits.
  template <class F>
  void each_incomplete(F&& f) const {
    steps_.each(f);
    if (requests_ != nullptr) requests_->each_incomplete(f);
  }
  /// The first step that is not complete.
  std::uint64_t waits_in_step() const {
    return has_steps_under_way() ? steps_.oldest().number() : statistics.steps;
  }
  bool has_steps_under_way() const { return steps_.open() > 0; }
  bool must_settle() const { return has_steps_under_way() | stopped; }
  NodeStatistics statistics_with_peaks() const {
    NodeStatistics all = with_peaks(statistics, arena_);
    if (requests_ != nullptr) all.polls = requests_->polls();
    return all;
  }

  /// Messages.
  std::uint64_t received_by_all() const {
    return received + (requests_ != nullptr ? requests_->received() : 0);
  }

  NodeStatistics statistics;
  std::chrono::nanoseconds moving{0};  // that it moved data, its own and others'
  std::uint64_t received = 0;          // messages of steps
  // Published to others by the barrier of the lock step, and to the thread that detects that all
  // wait.
  std::atomic<bool> finished{false};
  // How its program ended, for run(): published by all_ended().
  // It has left a step that is not complete: by Stopped, or, where memory was freed, silently. From
  // then on its data may never have arrived, and nothing may be done with them.
  bool stopped = false;
  std::unique_ptr<std::string> usage_error;  // that its program threw; its text
  Gates gates;
  Inbox inbox;  // open while it waits in a step

 private:
  void check(std::span<const Op> ops) const;
  void prepare(StepMessages& step, std::span<const Op> ops);
  void post(StepMessages& step);
  void keep_apart(std::span<const Op> ops);
  Extent own_stack() const;
  void let_go(Span data) noexcept;

  void wait(Gate& gate);
  void wait_for_step();
  template <class Done>
  void wait_until(Done&& done);
  void park(Gate& gate);
  void wait_for(StepMessages& step);
  bool complete_oldest() noexcept;
  bool complete(std::size_t steps) noexcept;
  void complete_or_unwind(std::size_t steps);
  void settle();
  void abandon() noexcept { steps_.forget(); }
  void require_running();
  [[noreturn]] void unwind();
  void count_message(const Worm& worm);

  void address(Worm& worm, const Op& op) override { around_->network.address(worm, rank_, op); }
  void launch(Worm& worm) override;
  void post(Receive& receive) override;
  void ask(TagQuery& query) override;
  void wait_for_all(std::span<Transfer* const> transfers) override;
  void wait_for_one(std::span<Transfer* const> transfers) override;
  void give_way() override;
  void poll() override;
  void sleep(std::chrono::nanoseconds time) override;
  void count_turn() override;
  void arrive() override { static_cast<void>(gates.step.arrive()); }
  void set_progress_engine(ProgressEngine* engine) override;
  void set_unwinding(bool is_unwinding) noexcept override { is_unwinding_ = is_unwinding; }
  void progress();

  void work(Charge charge, Bytes bytes, FunctionRef work) override;
  PlanCache& plans() override { return plans_; }
  Span acquire(Bytes bytes, Purpose purpose) override {
    if (stopped) throw Stopped();
    return arena_.acquire(bytes, purpose);
  }
  void release(Span data, Purpose purpose) noexcept override {
    if (has_steps_under_way()) let_go(data);
    arena_.release(data, purpose);
  }

  // The number of steps without a wait after which a node yields its core.
  static constexpr int most_steps_in_a_row = 64;

  PlanCache plans_;  // kept from run to run
  std::unique_ptr<RequestTable> requests_;
  StepWindow steps_;
  std::uintptr_t stack_ = 0;
};

}  // namespace wormcube
