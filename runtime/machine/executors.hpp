// The two ways to run nodes in one process: as OS threads, or as fibers on a few threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/parker.hpp"
#include "wormcube/runtime/node.hpp"

#include <functional>
#include <memory>

namespace wormcube {

/// Runs a function for every node, as often as asked, on stacks that live as long as the executor.
class NodeExecutor : public Parker {
 public:
  /// Starts body(rank) for every node; returns at once. The body must not throw.
  virtual void start(const std::function<void(Rank)>& body) = 0;
  /// The node that runs on the calling thread; -1: none of this executor.
  virtual Rank running_here() const noexcept = 0;
};

/// Throws UsageError if the system has no room for so many threads, before one is started.
void require_threads(Rank nodes);
/// Throws UsageError that says how many threads there can be.
std::unique_ptr<NodeExecutor> make_thread_executor(Rank nodes, Bytes stack_bytes);
/// \param workers  threads that the fibers share, at most one per node; 0: one per core
/// Throws UsageError that says how many stacks or threads there can be.
std::unique_ptr<NodeExecutor> make_fiber_executor(Rank nodes, Bytes stack_bytes, int workers);

/// Sleeps while `word` has this value (Linux futex); may return early.
void sleep_while_equal(std::atomic<std::uint32_t>& word, std::uint32_t value) noexcept;
/// Wakes those who sleep on `word`.
void wake_sleepers(std::atomic<std::uint32_t>& word) noexcept;
/// Tells the core that this is a waiting loop.
void pause() noexcept;

}  // namespace wormcube
