// How a node waits, for steps, requests and its turn, and how it leaves when the machine stops.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/clocks.hpp"
#include "wormcube/runtime/machine/failure.hpp"
#include "wormcube/runtime/machine/node/emulated_node.hpp"
#include "wormcube/runtime/machine/node/stopwatch.hpp"

#include <algorithm>
#include <thread>

#include <fmt/core.h>

namespace wormcube {

void EmulatedNode::wait(Gate& gate) {
  if (!around_->executor.opens_soon(gate)) park(gate);
}

void EmulatedNode::wait_for_step() {
  const Gate& gate = gates.step;
  if (!around_->executor.opens_soon(gate)) wait_until([&] { return gate.is_open(); });
}

// Parks until it is done or the machine stops, and carries on worms that others give back.
template <class Done>
void EmulatedNode::wait_until(Done&& done) {
  Gate& gate = gates.step;
  inbox.open();
  for (;;) {
    park(gate);
    steps_in_a_row_ = 0;
    if (done() || gate.is_stopped()) break;
    gate.answer();
    if (Waiter* const given_back = inbox.take()) around_->network.carry_on(given_back);
    progress();
    if (done()) break;
  }
  Waiter* const given_back = inbox.close();
  if (given_back != nullptr && !around_->is_stopping()) around_->network.carry_on(given_back);
}

void EmulatedNode::park(Gate& gate) {
  if (!gate.park()) return;
  ++statistics.parked;
  NodeObserver* const observer = around_->options.node_observer;
  if (observer != nullptr) observer->waits(rank_);
  around_->executor.block(rank_, gate);
  if (observer != nullptr) observer->goes_on(rank_);
}

// Returns at once if all is complete, or the machine stops.
void EmulatedNode::wait_for(StepMessages& step) {
  std::uint32_t left = 0, complete = 1;  // one for the node itself
  step.each([&](const Transfer& transfer) { left += transfer.is_complete() ? 0 : 1; });
  if (left == 0) return;
  gates.step.arm(static_cast<std::uint32_t>(step.receives.size() + step.worms.size()) + 1);
  step.each([&](Transfer& transfer) { complete += transfer.await() ? 0 : 1; });
  gates.step.arrive_here(complete);
  wait_for_step();
}

// False: the machine stops; then nobody is in the network any more, and no step is under way.
bool EmulatedNode::complete_oldest() noexcept {
  StepMessages& step = steps_.oldest();
  wait_for(step);
  if (around_->is_stopping()) {
    wait(gates.exit);
    statistics.steps = step.number();
    stopped = true;
    abandon();
    return false;
  }
  received += step.receives.size();
  steps_.end_oldest();
  return true;
}

// Waits for the oldest `steps`.
bool EmulatedNode::complete(std::size_t steps) noexcept {
  while (steps-- > 0) {
    if (!complete_oldest()) return false;
  }
  return true;
}

void EmulatedNode::complete_or_unwind(std::size_t steps) {
  if (!complete(steps)) throw Stopped();
}

// Outside of step(): the time counts as step time all the same.
void EmulatedNode::settle() {
  if (stopped) throw Stopped();
  const Stopwatch watch(around_->options.timing, statistics.stepping);
  complete_or_unwind(steps_.open());
}

// Nobody may touch what the node's stack holds once it unwinds.
void EmulatedNode::unwind() {
  statistics.steps = waits_in_step();  // where it would be if it had waited in each step
  wait(gates.exit);
  stopped = true;
  abandon();
  throw Stopped();
}

void EmulatedNode::require_running() {
  if (!around_->is_stopping()) return;
  if (has_steps_under_way() || (requests_ != nullptr && requests_->has_active())) unwind();
  stopped = true;
  throw Stopped();
}

// Within a wait the gate is armed: no other wait or yield is allowed.
void EmulatedNode::progress() {
  if (progress_engine_ == nullptr || progressing_ || around_->is_stopping()) return;
  progressing_ = true;
  progress_engine_->progress();
  progressing_ = false;
}

void EmulatedNode::set_progress_engine(ProgressEngine* engine) {
  if (steps_.size() > 1) throw UsageError("requests: a progress engine needs a window of one step");
  if (around_->barrier != nullptr) {
    throw UsageError("requests: a progress engine needs nodes that are not in lock step");
  }
  progress_engine_ = engine;
}

void EmulatedNode::count_turn() {
  if (++steps_in_a_row_ >= most_steps_in_a_row) give_way();
}

void EmulatedNode::give_way() {
  if (progressing_) return;
  steps_in_a_row_ = 0;
  around_->executor.yield(rank_);
  require_running();
  progress();
}

void EmulatedNode::poll() {
  if (progressing_) return;
  steps_in_a_row_ = 0;
  around_->executor.poll(rank_);
  require_running();
  progress();
}

// Within a wait it keeps its core.
void EmulatedNode::sleep(std::chrono::nanoseconds time) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::min<std::chrono::nanoseconds>(time, longest_wait);
  if (progressing_) {
    constexpr std::chrono::milliseconds slice{10};
    for (auto now = Clock::now(); now < until && !around_->is_stopping(); now = Clock::now()) {
      std::this_thread::sleep_until(std::min<Clock::time_point>(until, now + slice));
    }
    return;
  }
  around_->executor.sleep_until(rank_, until);
  require_running();
  progress();
}

void EmulatedNode::count_message(const Worm& worm) {
  statistics.bytes += worm.bytes;
  ++statistics.messages;
}

void EmulatedNode::launch(Worm& worm) {
  require_running();
  if (has_steps_under_way()) settle();
  worm.step = statistics.steps;
  count_message(worm);
  around_->network.launch(worm);
  count_turn();
}

void EmulatedNode::post(Receive& receive) {
  require_running();
  if (has_steps_under_way()) settle();
  receive.step = statistics.steps;
  around_->network.post(receive);
}

void EmulatedNode::ask(TagQuery& query) {
  require_running();
  if (has_steps_under_way()) settle();
  query.step = statistics.steps;
  around_->network.ask(query);
}

void EmulatedNode::wait_for_all(std::span<Transfer* const> transfers) {
  const Stopwatch watch(around_->options.timing, statistics.stepping);
  // One count for the node itself: nobody wakes it while it marks them.
  gates.step.arm(static_cast<std::uint32_t>(transfers.size()) + 1);
  for (Transfer* const transfer : transfers) {
    if (!transfer->await()) static_cast<void>(gates.step.arrive());
  }
  static_cast<void>(gates.step.arrive());
  wait_for_step();
  if (around_->is_stopping()) unwind();
}

// Nobody arrives: a completion calls.
void EmulatedNode::wait_for_one(std::span<Transfer* const> transfers) {
  const Stopwatch watch(around_->options.timing, statistics.stepping);
  gates.step.arm(1);
  bool none_complete = true;
  for (Transfer* const transfer : transfers) none_complete &= transfer->watch();
  if (none_complete) {
    wait_until([&] {
      return std::ranges::any_of(transfers,
                                 [](const Transfer* each) { return each->is_complete(); });
    });
  }
  for (Transfer* const transfer : transfers) transfer->unwatch();
  if (around_->is_stopping()) unwind();
}

void EmulatedNode::end_program() {
  if (has_steps_under_way()) settle();
  if (requests_ == nullptr || around_->options.messaging.allow_unreceived) return;
  if (const auto open = requests_->unfinished()) {
    throw UsageErrorOfNode(fmt::format("node {} {}", rank_, *open));
  }
}

}  // namespace wormcube
