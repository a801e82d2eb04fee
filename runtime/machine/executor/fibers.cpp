// Nodes as fibers: thousands of them on a thread per core.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/clocks.hpp"
#include "wormcube/runtime/base/host/cores.hpp"
#include "wormcube/runtime/base/host/faults.hpp"
#include "wormcube/runtime/base/host/signals.hpp"
#include "wormcube/runtime/machine/executor/executor.hpp"
#include "wormcube/runtime/machine/executor/fiber_worker.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube {
namespace {

thread_local FiberWorker* current_worker = nullptr;

class FiberExecutor final : public NodeExecutor {
 public:
  FiberExecutor(ExecutorHost& host, const ExecutorSettings& settings)
      : host_(host),
        timing_(settings.timing),
        nodes_(static_cast<std::size_t>(settings.nodes)),
        stacks_(static_cast<std::size_t>(settings.nodes + settings.routers), settings.stack_bytes),
        tasks_(static_cast<std::size_t>(settings.nodes + settings.routers)) {
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
    for (Rank rank = 0; rank < nodes + settings.routers; ++rank) tasks_[rank].rank = rank;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      const std::size_t first = first_of(i);
      const std::span all(tasks_);
      // A router for each worker, or none.
      workers_[i].own(all.subspan(first, first_of(i + 1) - first),
                      settings.routers > 0 ? all.subspan(nodes_ + i, 1) : std::span<FiberTask>(),
                      stacks_, settings.routers > 0 ? first + i : first, nobody_sleeps_, host_);
    }
    threads_.reserve(workers_.size());
    const SignalsElsewhere signals_elsewhere;
    try {
      for (FiberWorker& worker : workers_) {
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
          fmt::format("fibers: the system started only {} of {} worker threads: {}; ask for "
                      "fewer (workers), or raise the limit (ulimit -u, ulimit -v)",
                      started, workers_.size(), error.what()));
    }
  }
  ~FiberExecutor() override { end(); }

  void start(const std::function<void(Rank)>& body) override {
    if (timing_ && outnumber_cores_) busy_before_ = processor_time_of_workers();
    nobody_sleeps_.store(false, std::memory_order_relaxed);
    all_.begin();
    for (FiberWorker& worker : workers_) worker.start(body, timing_);
    all_.started([&] { host_.all_wait(); });
  }

  std::chrono::nanoseconds own_time() const noexcept override {
    return outnumber_cores_ ? processor_time()
                            : std::chrono::steady_clock::now().time_since_epoch();
  }
  std::chrono::nanoseconds busy(std::chrono::nanoseconds wall) const override {
    if (outnumber_cores_) return processor_time_of_workers() - busy_before_;
    std::chrono::nanoseconds sum{0};
    for (const FiberWorker& worker : workers_) sum += wall - std::min(worker.idle(), wall);
    return sum;
  }

  void block(Rank rank, Gate& gate) override {
    do {
      tasks_[rank].fiber->suspend();
    } while (gate.is_parked());
  }
  void wake(Rank rank, Gate& gate) noexcept override {
    if (!gate.unpark()) return;  // another thread woke it
    FiberTask& task = tasks_[rank];
    current_worker == task.home ? task.home->append(task) : task.home->send(task);
  }
  Rank running_here() const noexcept override {
    const bool ours = std::ranges::any_of(
        workers_, [](const FiberWorker& worker) { return &worker == current_worker; });
    return ours ? current_worker->running() : -1;
  }
  void yield(Rank rank) override {
    tasks_[rank].home->append_later(tasks_[rank]);
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
  // The only worker changes gates without synchronisation.
  void stop() noexcept override {
    if (is_one_thread() && current_worker != &workers_.front()) return workers_.front().stop();
    host_.stop_nodes();
  }
  // The worker's list orders the flag before the worker reads it.
  void end_sleep() noexcept override {
    nobody_sleeps_.store(true, std::memory_order_relaxed);
    for (FiberWorker& worker : workers_) worker.look();
  }
  // Parking is cheaper than a wait.
  bool opens_soon(const Gate& gate) override { return gate.is_open(); }

 private:
  void end() noexcept {
    for (FiberWorker& worker : workers_) worker.finish();
    for (std::thread& thread : threads_) thread.join();
    for (FiberWorker& worker : workers_) worker.end_fibers();
  }

  // The first task of a worker. Neighbouring ranks share one: most messages stay on one core.
  std::size_t first_of(std::size_t i) const {
    return (i * nodes_ + workers_.size() - 1) / workers_.size();
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
  BasicWorkers<FiberTask> all_;
  std::deque<FiberWorker> workers_;
  bool timing_;
  bool outnumber_cores_ = false;
  std::chrono::nanoseconds busy_before_{0};
  std::size_t nodes_;
  Stacks stacks_;
  std::vector<FiberTask, HugePages<FiberTask>> tasks_;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<NodeExecutor> make_fiber_executor(ExecutorHost& host,
                                                  const ExecutorSettings& settings) {
  return std::make_unique<FiberExecutor>(host, settings);
}

}  // namespace wormcube
