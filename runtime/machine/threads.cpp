// Nodes as OS threads.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/error.hpp"
#include "runtime/machine/executors.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <thread>

#include <fmt/core.h>
#include <pthread.h>
#include <sched.h>

namespace wormcube {
namespace {

/// One thread per node. A parked node sleeps on its gate's word; the one that clears `parked` wakes
/// it.
///
/// Threads       start: one at a time. block: the node's thread; unblock: any.
/// Memory order  generation_ publishes body_ (release) to the threads that wait for it (acquire).
class ThreadExecutor final : public NodeExecutor {
 public:
  ThreadExecutor(Rank nodes, Bytes stack_bytes) {
    // Threads that outnumber the cores must give way at once: spinning only delays whom they wait
    // for. With a core each, a reply takes less than parking does: 1.6 us to wake a thread, 0.4 us
    // to answer a spinning one.
    spins_ = static_cast<unsigned>(nodes) <= std::thread::hardware_concurrency() ? 2000 : 0;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::max<Bytes>(stack_bytes, PTHREAD_STACK_MIN));
    int error = 0;
    for (Rank rank = 0; rank < nodes && error == 0; ++rank) {
      Thread& thread = threads_.emplace_back(Thread{this, rank, {}});
      error = pthread_create(&thread.handle, &attributes, &ThreadExecutor::main, &thread);
      if (error != 0) threads_.pop_back();
    }
    pthread_attr_destroy(&attributes);
    if (error != 0) {
      const std::size_t started = threads_.size();
      join();
      throw UsageError(fmt::format(
          "threads: the system gives {} threads of {} (stack {} bytes each): {}; use fibers",
          started, nodes, stack_bytes, std::strerror(error)));
    }
  }
  ~ThreadExecutor() override { join(); }

  void start(const std::function<void(Rank)>& body) override {
    body_ = &body;
    generation_.fetch_add(1, std::memory_order_release);
    wake_sleepers(generation_);
  }

  void block(Rank /*rank*/, Gate& gate) override {
    for (;;) {
      const std::uint32_t seen = gate.word().load(std::memory_order_acquire);
      if (!gate.is_parked()) return;
      sleep_while_equal(gate.word(), seen);
    }
  }
  void unblock(Rank /*rank*/, Gate& gate) override { wake_sleepers(gate.word()); }
  int spins() const override { return spins_; }

 private:
  struct Thread {
    ThreadExecutor* executor;
    Rank rank;
    pthread_t handle;
  };

  static void* main(void* argument) {
    const Thread& thread = *static_cast<Thread*>(argument);
    ThreadExecutor& self = *thread.executor;
    for (std::uint32_t done = 0;;) {
      std::uint32_t seen = self.generation_.load(std::memory_order_acquire);
      while (seen == done) {
        sleep_while_equal(self.generation_, seen);
        seen = self.generation_.load(std::memory_order_acquire);
      }
      done = seen;
      if (self.body_ == nullptr) return nullptr;
      (*self.body_)(thread.rank);
    }
  }

  void join() {
    body_ = nullptr;
    generation_.fetch_add(1, std::memory_order_release);
    wake_sleepers(generation_);
    for (const Thread& thread : threads_) pthread_join(thread.handle, nullptr);
    threads_.clear();
  }

  std::deque<Thread> threads_;
  const std::function<void(Rank)>* body_ = nullptr;
  std::atomic<std::uint32_t> generation_{0};
  int spins_ = 0;
};

}  // namespace

std::unique_ptr<NodeExecutor> make_thread_executor(Rank nodes, Bytes stack_bytes) {
  return std::make_unique<ThreadExecutor>(nodes, stack_bytes);
}

}  // namespace wormcube
