// Nodes as fibers: thousands of them on a thread per core.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/fiber/fiber.hpp"
#include "wormcube/runtime/host/cores.hpp"
#include "wormcube/runtime/host/faults.hpp"
#include "wormcube/runtime/host/huge_pages.hpp"
#include "wormcube/runtime/host/signals.hpp"
#include "wormcube/runtime/machine/executors.hpp"
#include "wormcube/runtime/machine/futex.hpp"
#include "wormcube/runtime/machine/work_place.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <queue>
#include <span>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube {
namespace {

class Worker;

struct Task {
  Fiber* fiber = nullptr;  // from its start to its end in a run
  Rank rank = 0;
  Worker* home = nullptr;
  Task* next = nullptr;  // in one list at a time: what its worker is handed, or its queue
};

/// One thread and the nodes that live on it. They never move: waking one means putting it on
/// its own worker's list. A node has a fiber from its start to its end, that which was given back
/// last; so nodes that end without waiting use one stack after the other, which stays in the cache.
///
/// Threads       run, append: the worker's own thread. start, send, finish: any thread.
///               idle: the thread that waits for the run's end, of which it only needs the order of
///               microseconds. The fibers' own: from the first start() until run() has returned.
/// Invariants    a task is in at most one list: it was taken off when it was resumed, and only the
///               one that cleared its gate's `parked` puts it back. If that happens before the
///               fiber has left its stack, the worker is still running that very fiber, and comes
///               to its list afterwards.
/// Memory order  BasicWorkPlace's.
class Worker {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Worker(BasicWorkers<Task>& all) : place_(all) {}

  /// Once, before it runs: its tasks, a stack for each of them, and whom to tell.
  void own(std::span<Task> tasks, const Stacks& stacks, std::size_t first_stack,
           const std::atomic<bool>& nobody_sleeps, ExecutorHost& host) {
    constexpr std::size_t in_the_cache = 512;
    own_ = tasks;
    fresh_ = own_.size();
    far_ = tasks.size() > in_the_cache;
    stacks_ = &stacks;
    first_stack_ = first_stack;
    fibers_ = decltype(fibers_)(tasks.size());
    unused_.reserve(tasks.size());
    nobody_sleeps_ = &nobody_sleeps;
    host_ = &host;
    for (Task& task : tasks) task.home = this;
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

  void append(Task& task) {
    queue(task);
    in_vain_ = 0;
    idle_turns_since_.reset();
  }
  /// It has asked in vain.
  void append_polling(Task& task) {
    queue(task);
    ++in_vain_;
  }
  void append_sleeping(Task& task, Clock::time_point until) { sleepers_.emplace(until, &task); }

  void send(Task& task) { place_.send(task); }
  /// Looks whether its nodes may sleep on.
  void look() noexcept { place_.look(); }

  void run() {
    for (;;) {
      take_given();
      if (!sleepers_.empty()) wake_sleepers();
      if (in_vain_ > 2 * queued_) rest_if_all_poll();
      if (Task* const task = next()) {
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

  /// How long it had nothing to do since it started its tasks, if that is measured.
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

  void queue(Task& task) {
    task.next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = &task;
    last_ = &task;
    ++queued_;
  }

  void wake_sleepers() {
    const auto now =
        nobody_sleeps_->load(std::memory_order_relaxed) ? Clock::time_point::max() : Clock::now();
    while (!sleepers_.empty() && sleepers_.top().first <= now) {
      append(*sleepers_.top().second);
      sleepers_.pop();
    }
  }
  // Its nodes have all asked in vain, twice. If they do so for a while, and next to nothing else, it rests
  // between their rounds.
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

  // Those that have not run yet come first, in their order.
  Task* next() {
    if (fresh_ < own_.size()) return &own_[fresh_++];
    Task* const task = first_;
    if (task == nullptr) return nullptr;
    --queued_;
    first_ = task->next;
    if (first_ == nullptr) {
      last_ = nullptr;
    } else if (far_ && first_->next != nullptr) {
      first_->next->fiber->prefetch();
      if (const Task* const later = first_->next->next) __builtin_prefetch(later->fiber);
    }
    return task;
  }

  void take_given() {
    place_.take([&](Task& task) {
      if (&task == &start_) {
        idle_.store(0, std::memory_order_relaxed);
        place_.begin(own_.size());
        fresh_ = 0;
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

  // A reply that has not come in the time of some hundred wake-ups is none that a rest would hold up much.
  static constexpr std::chrono::microseconds most_idle_turn{5}, patience{1000}, short_rest{50};

  Task* first_ = nullptr;
  Task* last_ = nullptr;
  std::size_t queued_ = 0, in_vain_ = 0;  // turns, since anything else happened
  Clock::time_point last_round_;
  std::optional<Clock::time_point> idle_turns_since_;
  using Sleeper = std::pair<Clock::time_point, Task*>;
  std::priority_queue<Sleeper, std::vector<Sleeper>, std::greater<>> sleepers_;
  Rank running_ = -1;
  bool far_ = false;  // the next fiber's stack is in no cache that is near
  bool finished_ = false;
  bool has_ended_ = false;  // the node whose fiber has just suspended
  std::span<Task> own_;
  const Stacks* stacks_ = nullptr;
  std::size_t first_stack_ = 0, made_ = 0;
  std::vector<std::optional<Fiber>, HugePages<std::optional<Fiber>>> fibers_;  // the first made_
  std::vector<Fiber*> unused_;  // of these; room for all
  const std::function<void(Rank)>* body_ = nullptr;
  std::size_t fresh_ = 0;  // the first of own_ that has not run yet in this run
  const std::atomic<bool>* nobody_sleeps_ = nullptr;
  ExecutorHost* host_ = nullptr;
  Task start_, finish_, stop_;  // as given: all of own_; no more; in one list at a time
  std::atomic<bool> timing_{false};
  std::atomic<std::int64_t> idle_{0}, idle_since_{busy_now};
  BasicWorkPlace<Task> place_;
};

thread_local Worker* current_worker = nullptr;

class FiberExecutor final : public NodeExecutor {
 public:
  FiberExecutor(ExecutorHost& host, const ExecutorSettings& settings)
      : host_(host),
        timing_(settings.timing),
        stacks_(static_cast<std::size_t>(settings.nodes), settings.stack_bytes),
        tasks_(static_cast<std::size_t>(settings.nodes)) {
    const Rank nodes = settings.nodes;
    const auto count =
        std::min<std::int64_t>(settings.workers > 0 ? settings.workers : usable_cores(), nodes);
    const std::vector<int> cores = settings.pin ? bound_core_numbers() : std::vector<int>();
    if (!cores.empty() && count > std::ssize(cores)) {
      throw UsageError(fmt::format(
          "fibers: {} workers cannot have a core each: the process is bound to {}; ask for at most "
          "{} (workers), or do not pin them",
          count, cores.size(), cores.size()));
    }
    for (std::int64_t i = 0; i < count; ++i) workers_.emplace_back(all_);
    outnumber_cores_ = static_cast<int>(count) > usable_cores();
    for (Rank rank = 0; rank < nodes; ++rank) tasks_[rank].rank = rank;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      const std::size_t first = first_of(i);
      workers_[i].own(std::span(tasks_).subspan(first, first_of(i + 1) - first), stacks_, first,
                      nobody_sleeps_, host_);
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
        if (cores.empty()) continue;
        const int error = bind_to_core(threads_.back().native_handle(), cores[threads_.size() - 1]);
        if (error != 0) throw std::system_error(error, std::generic_category());
      }
    } catch (const std::bad_alloc&) {
      end();
      throw;
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
    if (timing_ && outnumber_cores_) busy_before_ = processor_time_of_workers();
    nobody_sleeps_.store(false, std::memory_order_relaxed);
    all_.begin();
    for (Worker& worker : workers_) worker.start(body, timing_);
    all_.started([&] { host_.all_wait(); });
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
  void wake(Rank rank, Gate& gate) noexcept override {
    if (!gate.unpark()) return;  // somebody else woke it
    Task& task = tasks_[rank];
    current_worker == task.home ? task.home->append(task) : task.home->send(task);
  }
  Rank running_here() const noexcept override {
    const bool ours = std::ranges::any_of(
        workers_, [](const Worker& worker) { return &worker == current_worker; });
    return ours ? current_worker->running() : -1;
  }
  void yield(Rank rank) override {
    tasks_[rank].home->append(tasks_[rank]);
    tasks_[rank].fiber->suspend();
  }
  void poll(Rank rank) override {
    tasks_[rank].home->append_polling(tasks_[rank]);
    tasks_[rank].fiber->suspend();
  }
  void sleep_until(Rank rank, std::chrono::steady_clock::time_point time) override {
    tasks_[rank].home->append_sleeping(tasks_[rank], time);
    tasks_[rank].fiber->suspend();
  }
  bool is_one_thread() const noexcept override { return workers_.size() == 1; }
  // The only worker changes gates without regard to others.
  void stop() noexcept override {
    if (is_one_thread() && current_worker != &workers_.front()) return workers_.front().stop();
    host_.stop_nodes();
  }
  // What a worker is sent orders the flag before its look.
  void end_sleep() noexcept override {
    nobody_sleeps_.store(true, std::memory_order_relaxed);
    for (Worker& worker : workers_) worker.look();
  }
  // Parking is cheaper than a wait.
  bool linger(const Gate& gate) override { return gate.is_open(); }

 private:
  void end() noexcept {
    for (Worker& worker : workers_) worker.finish();
    for (std::thread& thread : threads_) thread.join();
    for (Worker& worker : workers_) worker.end_fibers();
  }

  // The first task of a worker. Neighbouring ranks share one: most messages stay on one core.
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

  ExecutorHost& host_;
  std::atomic<bool> nobody_sleeps_{false};
  BasicWorkers<Task> all_;
  std::deque<Worker> workers_;
  bool timing_;
  bool outnumber_cores_ = false;
  std::chrono::nanoseconds busy_before_{0};
  Stacks stacks_;
  std::vector<Task, HugePages<Task>> tasks_;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<NodeExecutor> make_fiber_executor(ExecutorHost& host,
                                                  const ExecutorSettings& settings) {
  return std::make_unique<FiberExecutor>(host, settings);
}

}  // namespace wormcube
