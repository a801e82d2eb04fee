// One thread of fibers: the nodes that live on it, in the order in which they run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/fiber/fiber.hpp"
#include "wormcube/runtime/base/host/huge_pages.hpp"
#include "wormcube/runtime/machine/executor/block_queue.hpp"
#include "wormcube/runtime/machine/executor/executor.hpp"
#include "wormcube/runtime/machine/executor/futex.hpp"
#include "wormcube/runtime/machine/executor/work_place.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace wormcube {

class FiberWorker;

struct FiberTask {
  Fiber* fiber = nullptr;  // from its start to its end in a run
  Rank rank = 0;
  FiberWorker* home = nullptr;
  TaskBlock<FiberTask>* block = nullptr;
  FiberTask* next = nullptr;  // in one list at a time: its worker's list, or its queue
};

/// One thread and the nodes that live on it. They never move: waking one means putting it on
/// its own worker's list. A node has a fiber from its start to its end: the one that was freed
/// last. So nodes that end without waiting use one stack after the other, which stays in the cache.
///
/// Threads       run, append: the worker's own thread. start, send, finish: any thread.
///               idle: the thread that waits for the run's end; a result within microseconds
///               suffices. The fibers' own: from the first start() until run() has returned.
/// Invariants    a task is in at most one list: it was taken off when it was resumed, and only the
///               one that cleared its gate's `parked` puts it back. If that happens before the
///               fiber has left its stack, the worker is still running that very fiber, and comes
///               to its list afterwards.
/// Memory order  BasicWorkPlace's.
class FiberWorker {
 public:
  using Clock = std::chrono::steady_clock;

  explicit FiberWorker(BasicWorkers<FiberTask>& all) : place_(all) {}

  /// Once, before it runs: sets its tasks, a stack for each of them, and the host to notify.
  /// \param router  one, or none
  void own(std::span<FiberTask> tasks, std::span<FiberTask> router, const Stacks& stacks,
           std::size_t first_stack, const std::atomic<bool>& nobody_sleeps, ExecutorHost& host) {
    constexpr std::size_t in_the_cache = 512;  // nodes, and what their messages touch
    nodes_ = tasks.size() + router.size();
    far_ = nodes_ > in_the_cache;
    queue_.own(tasks, router, far_ ? in_the_cache / 2 : in_the_cache);
    stacks_ = &stacks;
    first_stack_ = first_stack;
    fibers_ = decltype(fibers_)(nodes_);
    unused_.reserve(nodes_);
    nobody_sleeps_ = &nobody_sleeps;
    host_ = &host;
    for (FiberTask& task : tasks) task.home = this;
    for (FiberTask& task : router) task.home = this;
  }
  /// All of its tasks can run.
  void start(const std::function<void(Rank)>& body, bool timing) {
    body_ = &body;
    timing_.store(timing, std::memory_order_relaxed);
    send(start_);
  }
  /// Its thread ends when it has nothing to do; then end_fibers() can be called.
  void finish() { send(finish_); }
  /// Its host stops all nodes, in its thread.
  void stop() noexcept { send(stop_); }
  void end_fibers() {
    body_ = nullptr;
    for (std::size_t i = 0; i < made_; ++i) fibers_[i]->resume();  // to its end
  }

  void append(FiberTask& task) {
    queue_.append(task);
    in_vain_ = 0;
    idle_turns_since_.reset();
  }
  /// Other nodes run first.
  void append_later(FiberTask& task) {
    queue_.append_later(task);
    in_vain_ = 0;
    idle_turns_since_.reset();
  }
  /// Its poll was unsuccessful.
  void append_polling(FiberTask& task) {
    queue_.append_later(task);
    ++in_vain_;
  }
  void append_sleeping(FiberTask& task, Clock::time_point until) {
    sleepers_.emplace(until, &task);
  }

  void send(FiberTask& task) { place_.send(task); }
  /// Checks whether its nodes may sleep on.
  void look() noexcept { place_.look(); }

  void run() {
    for (;;) {
      take_given();
      if (!sleepers_.empty()) wake_sleepers();
      if (in_vain_ > 2 * queue_.size()) rest_if_all_poll();
      if (FiberTask* const task = next()) {
        if (task->fiber == nullptr) task->fiber = fiber();
        running_ = task->rank;
        task->fiber->resume();
        running_ = -1;
        if (std::exchange(has_ended_, false))
          unused_.push_back(std::exchange(task->fiber, nullptr));
      } else if (!sleepers_.empty()) {
        place_.doze(sleepers_.top().first);
      } else if (finished_) {
        return;
      } else {
        wait_for_work();
      }
    }
  }
  /// The node that runs now; for the worker's own thread.
  Rank running() const noexcept { return running_; }

  /// How long it was idle since it started its tasks, if that is measured.
  std::chrono::nanoseconds idle() const {
    const std::int64_t since = idle_since_.load(std::memory_order_acquire);
    const auto now = since == busy_now ? 0 : now_in_nanoseconds() - since;
    return std::chrono::nanoseconds(idle_.load(std::memory_order_relaxed) +
                                    std::max<std::int64_t>(now, 0));
  }

 private:
  Fiber* fiber() {
    if (!unused_.empty()) {
      Fiber* const fiber = unused_.back();
      unused_.pop_back();
      return fiber;
    }
    const std::size_t i = made_++;
    return &fibers_[i].emplace(*stacks_, first_stack_ + i, [this, i] { run_nodes(i); });
  }

  // On fiber i: one node after the other, each from its start to its end.
  void run_nodes(std::size_t i) {
    while (body_ != nullptr) {
      (*body_)(running_);
      has_ended_ = true;
      if (place_.one_has_ended()) host_->all_ended();
      fibers_[i]->suspend();
    }
  }

  void wake_sleepers() {
    const auto now =
        nobody_sleeps_->load(std::memory_order_relaxed) ? Clock::time_point::max() : Clock::now();
    while (!sleepers_.empty() && sleepers_.top().first <= now) {
      append(*sleepers_.top().second);
      sleepers_.pop();
    }
  }
  // All polls of its nodes were unsuccessful, twice. If that continues for a while, and almost
  // nothing else happens, it rests between their rounds.
  void rest_if_all_poll() {
    const auto now = Clock::now();
    const bool do_more = now - last_round_ > in_vain_ * most_idle_turn;
    in_vain_ = 0;
    last_round_ = now;
    if (do_more || !idle_turns_since_) {
      idle_turns_since_ = now;
    } else if (now - *idle_turns_since_ > patience) {
      place_.doze(now + short_rest);
      last_round_ = Clock::now();
    }
  }

  FiberTask* next() {
    FiberTask* const task = queue_.next();
    const FiberTask* const ahead = far_ ? queue_.ahead() : nullptr;
    if (ahead != nullptr && ahead->next != nullptr) {
      ahead->next->fiber->prefetch();
      if (const FiberTask* const later = ahead->next->next) __builtin_prefetch(later->fiber);
    }
    return task;
  }

  void take_given() {
    place_.take([&](FiberTask& task) {
      if (&task == &start_) {
        idle_.store(0, std::memory_order_relaxed);
        place_.begin(nodes_);
        queue_.start();
      } else if (&task == &finish_) {
        finished_ = true;
      } else if (&task == &stop_) {
        host_->stop_nodes();
      } else {
        append(task);
      }
    });
  }

  static std::int64_t now_in_nanoseconds() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  void wait_for_work() {
    if (!timing_.load(std::memory_order_relaxed)) return wait();
    const std::int64_t since = now_in_nanoseconds();
    idle_since_.store(since, std::memory_order_release);
    wait();
    idle_since_.store(busy_now, std::memory_order_release);
    idle_.store(idle_.load(std::memory_order_relaxed) + now_in_nanoseconds() - since,
                std::memory_order_relaxed);
  }

  void wait() {
    for (int spin = 0; spin < spins; ++spin) {
      if (place_.has_items()) return;
      pause();
    }
    place_.rest([&] { host_->all_wait(); });
  }

  // About 5 us, three times what a wake-up costs here: the other worker's next message is mostly
  // nearer than that.
  static constexpr int spins = 1000;

  static constexpr std::int64_t busy_now = -1;

  // If a reply has not come within the time of some hundred wake-ups, a rest hardly delays it
  // further.
  static constexpr std::chrono::microseconds most_idle_turn{5}, patience{1000}, short_rest{50};

  BlockQueue<FiberTask> queue_;
  std::size_t in_vain_ = 0;  // turns, since anything else happened
  Clock::time_point last_round_;
  std::optional<Clock::time_point> idle_turns_since_;
  using Sleeper = std::pair<Clock::time_point, FiberTask*>;
  std::priority_queue<Sleeper, std::vector<Sleeper>, std::greater<>> sleepers_;
  Rank running_ = -1;
  bool far_ = false;  // the next fiber's stack is in no cache that is near
  bool finished_ = false;
  bool has_ended_ = false;  // the node whose fiber has just suspended
  std::size_t nodes_ = 0;
  const Stacks* stacks_ = nullptr;
  std::size_t first_stack_ = 0, made_ = 0;
  std::vector<std::optional<Fiber>, HugePages<std::optional<Fiber>>> fibers_;  // the first made_
  std::vector<Fiber*> unused_;  // of these; room for all
  const std::function<void(Rank)>* body_ = nullptr;
  const std::atomic<bool>* nobody_sleeps_ = nullptr;
  ExecutorHost* host_ = nullptr;
  FiberTask start_, finish_, stop_;  // as given: all of its own; no more; in one list at a time
  std::atomic<bool> timing_{false};
  std::atomic<std::int64_t> idle_{0}, idle_since_{busy_now};
  BasicWorkPlace<FiberTask> place_;
};

}  // namespace wormcube
