// Nodes as fibers: thousands of them on a thread per core.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/fiber/fiber.hpp"
#include "wormcube/runtime/host/cores.hpp"
#include "wormcube/runtime/host/faults.hpp"
#include "wormcube/runtime/host/signals.hpp"
#include "wormcube/runtime/machine/executors.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include <fmt/core.h>

namespace wormcube {
namespace {

struct Task {
  std::optional<Fiber> fiber;  // here: neighbours run one after the other
  Rank rank = 0;
  Task* next = nullptr;  // in one list at a time: a worker's inbox or its queue
};

/// One thread and the fibers that live on it. Fibers never move: unblocking one means putting it on
/// its own worker's list.
///
/// Threads       run, append: the worker's own thread. start, send: any thread. idle: the thread that
///               waits for the run's end, of which it only needs the order of microseconds.
/// Invariants    a task is in at most one list: it was taken off when it was resumed, and only the
///               one that cleared its gate's `parked` puts it back. If that happens before the
///               fiber has left its stack, the worker is still running that very fiber, and comes
///               to its list afterwards.
/// Memory order  send pushes, the worker takes the whole inbox with acquire. To sleep, the worker
///               sets asleep_ and then looks at inbox_; a sender pushes and then looks at asleep_.
///               All four are sequentially consistent, so at least one of the two sees the other.
class Worker {
 public:
  /// Once, before it runs: its tasks.
  void own(std::span<Task> tasks) {
    constexpr std::size_t in_the_cache = 512;
    own_ = tasks;
    far_ = tasks.size() > in_the_cache;
  }
  /// All of its tasks can run.
  void start(bool timing) {
    timing_ = timing;
    send(start_);
  }

  void append(Task& task) {
    task.next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = &task;
    last_ = &task;
  }

  void send(Task& task) {
    Task* newest = inbox_.load(std::memory_order_relaxed);
    do {
      task.next = newest;
    } while (!inbox_.compare_exchange_weak(newest, &task, std::memory_order_seq_cst,
                                           std::memory_order_relaxed));
    signal();
  }

  void finish() {
    finished_.store(true, std::memory_order_seq_cst);
    signal();
  }

  void run() {
    for (;;) {
      take_inbox();
      if (first_ == nullptr) {
        if (finished_.load(std::memory_order_acquire)) return;
        wait_for_inbox();
        continue;
      }
      Task& task = *first_;
      first_ = task.next;
      if (first_ == nullptr) {
        last_ = nullptr;
      } else if (far_ && first_->next != nullptr) {
        first_->next->fiber->prefetch();
        if (const Task* const later = first_->next->next) __builtin_prefetch(&later->fiber);
      }
      running_ = task.rank;
      task.fiber->resume();
      running_ = -1;
    }
  }
  /// The node that runs now; for the worker's own thread.
  Rank running() const noexcept { return running_; }

  /// How long it had nothing to do since it started its tasks, if that is measured.
  std::chrono::nanoseconds idle() const {
    const std::int64_t since = idle_since_.load(std::memory_order_acquire);
    const auto now = since == busy ? 0 : now_in_nanoseconds() - since;
    return std::chrono::nanoseconds(idle_.load(std::memory_order_relaxed) +
                                    std::max<std::int64_t>(now, 0));
  }

 private:
  void take_inbox() {
    if (inbox_.load(std::memory_order_relaxed) == nullptr) return;
    Task* oldest = nullptr;
    for (Task* task = inbox_.exchange(nullptr, std::memory_order_acquire); task != nullptr;) {
      Task* const next = task->next;
      task->next = oldest;
      oldest = task;
      task = next;
    }
    while (oldest != nullptr) {
      Task* const next = oldest->next;
      if (oldest == &start_) {
        idle_.store(0, std::memory_order_relaxed);
        for (Task& task : own_) append(task);
      } else {
        append(*oldest);
      }
      oldest = next;
    }
  }

  void signal() {
    if (asleep_.exchange(0, std::memory_order_seq_cst) == 1) wake_sleepers(asleep_);
  }

  static std::int64_t now_in_nanoseconds() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  }

  void wait_for_inbox() {
    if (!timing_.load(std::memory_order_relaxed)) return sleep();
    const std::int64_t since = now_in_nanoseconds();
    idle_since_.store(since, std::memory_order_release);
    sleep();
    idle_since_.store(busy, std::memory_order_release);
    idle_.store(idle_.load(std::memory_order_relaxed) + now_in_nanoseconds() - since,
                std::memory_order_relaxed);
  }

  void sleep() {
    const auto called = [&] {
      return inbox_.load(std::memory_order_seq_cst) != nullptr ||
             finished_.load(std::memory_order_seq_cst);
    };
    for (int spin = 0; spin < spins; ++spin) {
      if (called()) return;
      pause();
    }
    asleep_.store(1, std::memory_order_seq_cst);
    while (!called() && asleep_.load(std::memory_order_seq_cst) == 1) sleep_while_equal(asleep_, 1);
    asleep_.store(0, std::memory_order_seq_cst);
  }

  // About 5 us, three times what a wake-up costs here: the other worker's next message is mostly
  // nearer than that.
  static constexpr int spins = 1000;

  static constexpr std::int64_t busy = -1;

  Task* first_ = nullptr;
  Task* last_ = nullptr;
  Rank running_ = -1;
  std::span<Task> own_;
  bool far_ = false;  // the next fiber's stack is in no cache that is near
  Task start_;        // in the inbox: all of own_
  std::atomic<bool> timing_{false};
  std::atomic<std::int64_t> idle_{0}, idle_since_{busy};
  alignas(64) std::atomic<Task*> inbox_{nullptr};
  std::atomic<std::uint32_t> asleep_{0};
  std::atomic<bool> finished_{false};
};

thread_local Worker* current_worker = nullptr;

class FiberExecutor final : public NodeExecutor {
 public:
  FiberExecutor(Rank nodes, Bytes stack_bytes, int workers, bool timing)
      : workers_(static_cast<std::size_t>(
            std::min<std::int64_t>(workers > 0 ? workers : usable_cores(), nodes))),
        timing_(timing),
        outnumber_cores_(static_cast<int>(workers_.size()) > usable_cores()),
        stacks_(static_cast<std::size_t>(nodes), stack_bytes),
        tasks_(static_cast<std::size_t>(nodes)) {
    for (Rank rank = 0; rank < nodes; ++rank) {
      tasks_[rank].rank = rank;
      tasks_[rank].fiber.emplace(stacks_, rank, [this, rank] {
        for (;;) {
          tasks_[rank].fiber->suspend();
          if (body_ == nullptr) return;
          (*body_)(rank);
        }
      });
      tasks_[rank].fiber->resume();  // to its first suspend: from here on a resume is a run
    }
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      const std::size_t first = first_of(i);
      workers_[i].own(std::span(tasks_).subspan(first, first_of(i + 1) - first));
    }
    threads_.reserve(workers_.size());
    const SignalsElsewhere signals_elsewhere;
    try {
      for (Worker& worker : workers_) {
        threads_.emplace_back([&worker] {
          current_worker = &worker;
          alignas(64) std::array<std::byte, SignalStack::bytes> memory;  // touched by a fault only
          const SignalStack signals(memory);
          worker.run();
        });
      }
    } catch (const std::system_error& error) {
      const std::size_t started = threads_.size();
      end();
      throw UsageError(
          fmt::format("fibers: the system gives {} threads of {} for fibers to run on: {}; ask for "
                      "fewer (workers), or raise the limit (ulimit -u, ulimit -v)",
                      started, workers_.size(), error.what()));
    }
  }
  ~FiberExecutor() override { end(); }

  void start(const std::function<void(Rank)>& body) override {
    body_ = &body;
    if (timing_ && outnumber_cores_) busy_before_ = processor_time_of_workers();
    for (Worker& worker : workers_) worker.start(timing_);
  }

  std::chrono::nanoseconds own_time() const noexcept override {
    return outnumber_cores_ ? processor_time()
                            : std::chrono::steady_clock::now().time_since_epoch();
  }
  std::chrono::nanoseconds busy(std::chrono::nanoseconds wall) const override {
    if (outnumber_cores_) return processor_time_of_workers() - busy_before_;
    std::chrono::nanoseconds sum{0};
    for (const Worker& worker : workers_) sum += wall - std::min(worker.idle(), wall);
    return sum;
  }

  void block(Rank rank, Gate& gate) override {
    do {
      tasks_[rank].fiber->suspend();
    } while (gate.is_parked());
  }
  void unblock(Rank rank, Gate& /*gate*/) override {
    Worker& worker = home(rank);
    current_worker == &worker ? worker.append(tasks_[rank]) : worker.send(tasks_[rank]);
  }
  Rank running_here() const noexcept override {
    const bool ours = std::ranges::any_of(
        workers_, [](const Worker& worker) { return &worker == current_worker; });
    return ours ? current_worker->running() : -1;
  }
  void yield(Rank rank) override {
    home(rank).append(tasks_[rank]);
    tasks_[rank].fiber->suspend();
  }
  // Parking is cheaper than a wait.
  bool linger(const Gate& gate) override { return gate.is_open(); }

 private:
  void end() noexcept {
    for (Worker& worker : workers_) worker.finish();
    for (std::thread& thread : threads_) thread.join();
    body_ = nullptr;
    for (Task& task : tasks_) task.fiber->resume();  // to its end
  }

  // Neighbouring ranks share a worker: most messages stay on one core.
  Worker& home(Rank rank) {
    return workers_[static_cast<std::size_t>(rank) * workers_.size() / tasks_.size()];
  }
  // The first task of a worker: the least r with r * workers / tasks == i.
  std::size_t first_of(std::size_t i) const {
    return (i * tasks_.size() + workers_.size() - 1) / workers_.size();
  }

  std::chrono::nanoseconds processor_time_of_workers() const {
    std::chrono::nanoseconds sum{0};
    for (const std::thread& thread : threads_) {
      sum += processor_time_of(const_cast<std::thread&>(thread).native_handle());
    }
    return sum;
  }

  std::deque<Worker> workers_;
  bool timing_;
  bool outnumber_cores_;
  std::chrono::nanoseconds busy_before_{0};
  Stacks stacks_;
  std::vector<Task> tasks_;
  std::vector<std::thread> threads_;
  const std::function<void(Rank)>* body_ = nullptr;
};

}  // namespace

std::unique_ptr<NodeExecutor> make_fiber_executor(Rank nodes, Bytes stack_bytes, int workers,
                                                  bool timing) {
  return std::make_unique<FiberExecutor>(nodes, stack_bytes, workers, timing);
}

}  // namespace wormcube
