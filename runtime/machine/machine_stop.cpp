// What ends a run of a machine before its programs do: a failure, a deadlock, a stop from outside.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/fiber/fiber.hpp"
#include "wormcube/runtime/machine/failure.hpp"
#include "wormcube/runtime/machine/machine_impl.hpp"
#include "wormcube/runtime/machine/report/deadlock_report.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

// Whether a UsageError of a node's program concerns that node alone: another node has thrown a
// different one, or has got further than the step in which it was thrown. Otherwise it concerns the
// arguments that all nodes share, or the others were stopped before they reached it.
bool Machine::Impl::is_of_one_node(const EmulatedNode& thrower) const {
  return std::ranges::any_of(nodes_, [&](const EmulatedNode& node) {
    if (node.usage_error) return *node.usage_error != *thrower.usage_error;
    return !node.stopped || node.statistics.steps >= thrower.statistics.steps;
  });
}

// In a run that is being stopped: the nodes that have not ended and do not wait.
Rank Machine::Impl::nodes_outside_of_steps() const {
  return static_cast<Rank>(std::ranges::count_if(nodes_, [&](const EmulatedNode& node) {
    return !node.finished.load(std::memory_order_relaxed) && !node.gates.step.is_parked() &&
           !node.gates.exit.is_parked() && !(barrier_ && barrier_->is_parked(node.rank()));
  }));
}

// The exception being handled has left this node's program.
void Machine::Impl::caught(Rank rank) noexcept {
  EmulatedNode& node = nodes_[rank];
  // If one of its steps never completes, the program would have thrown this only after it.
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

// If all nodes have ended, so do the routers, which wait to be called.
bool Machine::Impl::end_routers() noexcept {
  const auto has_ended = [](const EmulatedNode& node) {
    return node.finished.load(std::memory_order_relaxed);
  };
  if (router_gates_.empty() || !std::ranges::all_of(nodes_, has_ended)) return false;
  routers_end_.store(true, std::memory_order_release);
  for (int task = 0; task < std::ssize(router_gates_); ++task) call_router(task);
  return true;
}

// A deadlock, or, if the machine stops, the end of all traffic. It stops before it wakes anyone, so
// that nodes that wait now never enter the network again.
void Machine::Impl::all_wait() noexcept {
  if (end_routers()) return;
  if (stopping()) {
    if (exits_are_open_.test_and_set(std::memory_order_acq_rel)) return;
    for (EmulatedNode& node : nodes_) {
      if (node.gates.exit.arrive()) wake(node.rank(), node.gates.exit);
    }
    return;
  }
  if (!claim_failure()) return;  // another thread is about to stop the machine, from outside
  const auto unwinding = std::ranges::find_if(nodes_, &EmulatedNode::is_unwinding);
  if (unwinding != nodes_.end()) unwinding_ = &*unwinding;
  std::exception_ptr error;
  try {
    std::string text = deadlock_table(network_, nodes_, barrier_ ? &*barrier_ : nullptr);
    if (const Routers* const routers = network_.routers()) text += routers->description();
    if (options_.messaging.deadlock_text)
      text = options_.messaging.deadlock_text(text, network_.unreceived());
    error = std::make_exception_ptr(Deadlock(text));
  } catch (...) {
    error = std::current_exception();
  }
  stop_all(std::move(error), nullptr);
}

// The first caller sets the error that run() throws; returns true for it.
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

// Once a run; run() does not return before this does.
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

// The report of a stack overflow in a node, in that node's thread.
std::size_t Machine::Impl::explain(std::optional<const std::byte*> address,
                                   std::span<char> text) const {
  const Rank rank = executor_ != nullptr ? executor_->running_here() : -1;
  if (rank < 0 || rank >= topology().nodes() || (address && !Fiber::is_below_stack(*address)))
    return 0;
  const auto end = fmt::format_to_n(
      text.data(), text.size(), "{}node {}, step {} on {}: {}", Activity::prefix(activity_), rank,
      nodes_[static_cast<std::size_t>(rank)].statistics.steps, topology().name(),
      address ? "a node program has used up its stack (too deep a recursion, or too large a local "
                "array?)"
              : "");
  return std::min<std::size_t>(end.size, text.size());
}

}  // namespace wormcube
