// Nodes as OS threads.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/fiber/fiber.hpp"
#include "wormcube/runtime/base/host/clocks.hpp"
#include "wormcube/runtime/base/host/cores.hpp"
#include "wormcube/runtime/base/host/faults.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/base/host/signals.hpp"
#include "wormcube/runtime/machine/executor/executor.hpp"
#include "wormcube/runtime/machine/executor/futex.hpp"
#include "wormcube/runtime/machine/executor/node_threads.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

namespace wormcube {
namespace {

/// One thread per node. A parked node sleeps on its gate's word; whoever clears `parked` wakes it.
///
/// Threads       start: one at a time. block: the node's thread; wake: any.
/// Invariants    left_ counts those that no longer touch anything of this run.
/// Memory order  generation_ publishes body_ (release) to the threads that wait for it (acquire).
///               left_ is read-modify-written with acq_rel: whoever reads the last change sees what
///               all others did before theirs.
class ThreadExecutor final : public NodeExecutor {
 public:
  ThreadExecutor(ExecutorHost& host, const ExecutorSettings& settings)
      : host_(host), timing_(settings.timing), oversubscribed_(settings.nodes > usable_cores()) {
    const Rank nodes = settings.nodes + settings.routers;
    const Bytes stack_bytes = settings.stack_bytes;
    const std::vector<int> cores = settings.pin ? bound_core_numbers() : std::vector<int>();
    const SignalsElsewhere signals_elsewhere;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    // Larger than any address: the sum with what the system adds to it might overflow to a small
    // number.
    int error = stack_bytes > std::numeric_limits<Bytes>::max() / 2
                    ? ENOMEM
                    : pthread_attr_setstacksize(&attributes, stack_bytes + SignalStack::bytes);
    if (error == 0)
      error = pthread_attr_setguardsize(&attributes,
                                        Stacks::guard_for(static_cast<std::size_t>(nodes)));
    for (Rank rank = 0; rank < nodes && error == 0; ++rank) {
      if (!cores.empty()) {
        // Neighbouring ranks share a core: most messages stay on it.
        const auto i = static_cast<std::size_t>(rank) * cores.size() / nodes;
        error = bind_to_core(attributes, cores[i]);
      }
      if (error == 0) error = add_thread(rank, attributes);
    }
    pthread_attr_destroy(&attributes);
    if (error != 0) {
      const std::size_t started = threads_.size();
      const bool too_large = !has_room_for(stack_bytes);
      join();
      throw UsageError(fmt::format(
          "threads: the system started only {} of {} (stack {} bytes each): {}; use {}, or raise "
          "the limit (ulimit -u, ulimit -v)",
          started, nodes, stack_bytes, std::strerror(error),
          too_large ? "smaller stacks" : "fibers or fewer nodes"));
    }
  }
  ~ThreadExecutor() override { join(); }

  void start(const std::function<void(Rank)>& body) override {
    body_ = &body;
    if (timing_) busy_before_ = processor_time_of_nodes();
    nodes_.begin(threads_.size());
    left_.store(0, std::memory_order_relaxed);
    nobody_sleeps_.store(0, std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_release);
    wake_sleepers(generation_);
  }

  std::chrono::nanoseconds own_time() const noexcept override { return processor_time(); }
  std::chrono::nanoseconds busy(std::chrono::nanoseconds /*wall*/) const override {
    return processor_time_of_nodes() - busy_before_;
  }

  void yield(Rank /*rank*/) override { sched_yield(); }
  void poll(Rank /*rank*/) override { sched_yield(); }
  void sleep_until(Rank /*rank*/, std::chrono::steady_clock::time_point time) override {
    if (time <= std::chrono::steady_clock::now()) return static_cast<void>(sched_yield());
    while (nobody_sleeps_.load(std::memory_order_relaxed) == 0 &&
           sleep_while_equal(nobody_sleeps_, 0, time)) {
    }
  }
  bool is_one_thread() const noexcept override { return false; }
  void stop() noexcept override { host_.stop_nodes(); }
  void end_sleep() noexcept override {
    nobody_sleeps_.store(1, std::memory_order_relaxed);
    wake_sleepers(nobody_sleeps_);
  }

  void block(Rank /*rank*/, Gate& gate) override {
    nodes_.block(gate, [&] { host_.all_wait(); });
  }
  Rank running_here() const noexcept override {
    return of_this_thread != nullptr && of_this_thread->executor == this ? of_this_thread->rank
                                                                         : -1;
  }
  void wake(Rank /*rank*/, Gate& gate) noexcept override {
    nodes_.wake(gate, [&] { host_.all_wait(); });
  }

  // With a core for each node a reply comes sooner than a parked thread wakes: spin. Where nodes
  // outnumber cores, spinning only delays the node that is waited for. In both cases let the others
  // run twice then, for by then most have sent what they must; other programs, and other machines
  // of this one, may have taken the core that this node was to have (bench/README.md).
  bool opens_soon(const Gate& gate) override {
    constexpr int spins = 2000, turns = 2;
    for (int i = oversubscribed_ ? spins : 0; i < spins; ++i) {
      if (gate.is_open()) return true;
      pause();
    }
    for (int i = 0; i < turns; ++i) {
      if (gate.is_open()) return true;
      sched_yield();
    }
    return gate.is_open();
  }

 private:
  struct Thread {
    ThreadExecutor* executor;
    Rank rank;
    pthread_t handle;
  };

  // Whether another stack was possible: then there are too many threads, else the stacks are too
  // large.
  static bool has_room_for(Bytes stack_bytes) {
    void* const map = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) return false;
    munmap(map, stack_bytes);
    return true;
  }

  static void* main(void* argument) {
    const Thread& thread = *static_cast<Thread*>(argument);
    ThreadExecutor& self = *thread.executor;
    of_this_thread = &thread;
    know_thread_stack();
    alignas(64) std::array<std::byte, SignalStack::bytes> memory;  // touched by a fault only
    const SignalStack signals(memory);
    for (std::uint32_t done = 0;;) {
      std::uint32_t seen = self.generation_.load(std::memory_order_acquire);
      while (seen == done) {
        sleep_while_equal(self.generation_, seen);
        seen = self.generation_.load(std::memory_order_acquire);
      }
      done = seen;
      if (self.body_ == nullptr) return nullptr;
      (*self.body_)(thread.rank);
      self.nodes_.end([&] { self.host_.all_wait(); });
      const std::size_t left = self.left_.fetch_add(1, std::memory_order_acq_rel) + 1;
      if (left == self.threads_.size()) self.host_.all_ended();
    }
  }

  std::chrono::nanoseconds processor_time_of_nodes() const {
    std::chrono::nanoseconds sum{0};
    for (const Thread& thread : threads_) sum += processor_time_of(thread.handle);
    return sum;
  }

  static inline thread_local const Thread* of_this_thread = nullptr;

  /// Returns 0, or the system's error; then the thread was not started.
  int add_thread(Rank rank, const pthread_attr_t& attributes) noexcept try {
    Thread& thread = threads_.emplace_back(Thread{this, rank, {}});
    const int error = pthread_create(&thread.handle, &attributes, &ThreadExecutor::main, &thread);
    if (error != 0) threads_.pop_back();
    return error;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }

  void join() {
    body_ = nullptr;
    generation_.fetch_add(1, std::memory_order_release);
    wake_sleepers(generation_);
    for (const Thread& thread : threads_) pthread_join(thread.handle, nullptr);
    threads_.clear();
  }

  ExecutorHost& host_;
  std::deque<Thread> threads_;
  alignas(64) NodeThreads nodes_;
  std::atomic<std::size_t> left_{0};
  const std::function<void(Rank)>* body_ = nullptr;
  std::atomic<std::uint32_t> generation_{0};
  std::atomic<std::uint32_t> nobody_sleeps_{0};  // 1: the rest of the run
  bool timing_;
  bool oversubscribed_;
  std::chrono::nanoseconds busy_before_{0};
};

}  // namespace

void require_threads(Rank nodes) {
  constexpr std::size_t maps_each = 2;  // the stack, and the guard page below it
  const std::size_t maps = most_memory_maps(), most = maps / maps_each;
  if (static_cast<std::size_t>(nodes) <= most) return;
  throw UsageError(
      fmt::format("{} nodes as threads: the system has room for {} (vm.max_map_count {}, {} memory "
                  "maps each); use fibers, or fewer nodes",
                  nodes, most, maps, maps_each));
}

std::unique_ptr<NodeExecutor> make_thread_executor(ExecutorHost& host,
                                                   const ExecutorSettings& settings) {
  return std::make_unique<ThreadExecutor>(host, settings);
}

}  // namespace wormcube
