// Runs the nodes of one process as OS threads, or as fibers on a few; suspends and resumes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/executor/gate.hpp"
#include "wormcube/runtime/node/node.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace wormcube {

/// Notified of what all nodes together do.
class ExecutorHost {
 public:
  virtual ~ExecutorHost() = default;
  /// No node runs or will by itself, and not all have ended. The thread that detects this calls it;
  /// it sees all that the nodes did. It may wake nodes. They cannot all end before it returns.
  virtual void all_wait() noexcept = 0;
  /// All have ended. The executor's last call in a run, before the nodes leave their stacks.
  virtual void all_ended() noexcept = 0;
  /// Opens the gates of all nodes for good: the machine stops. Called on a thread that may
  /// (NodeExecutor::stop).
  virtual void stop_nodes() noexcept = 0;
};

/// Runs a function for every node, as often as asked, on stacks that live as long as the executor.
///
/// Invariants  a node is pinned: it runs on one thread, the same in every run, as long as the
///             executor lives. So thread_local objects, and what its worker keeps for it, stay its
///             own.
class NodeExecutor {
 public:
  virtual ~NodeExecutor() = default;
  /// Starts body(rank) for every node and router; returns at once. The body must not throw.
  virtual void start(const std::function<void(Rank)>& body) = 0;

  // Called by the node that waits, but for wake().

  /// Before it parks: a short wait on its core, if that may spare it the parking. Whether the gate
  /// is open.
  virtual bool opens_soon(const Gate& gate) = 0;
  /// After gate.park(); returns when another thread has woken it.
  virtual void block(Rank rank, Gate& gate) = 0;
  /// Called by whoever learns from the gate that it must wake the node; of several, one does.
  virtual void wake(Rank rank, Gate& gate) noexcept = 0;
  /// Other nodes on its core run before this one continues, if any can.
  virtual void yield(Rank rank) = 0;
  /// As yield(), after an unsuccessful poll: a thread whose nodes have done nothing but poll for a
  /// while rests now and then.
  virtual void poll(Rank rank) = 0;
  /// The node continues after that time; it counts as running meanwhile.
  virtual void sleep_until(Rank rank, std::chrono::steady_clock::time_point time) = 0;

  /// Whether all nodes share one thread; then no other changes their gates while one of them runs.
  virtual bool is_one_thread() const noexcept = 0;
  /// Calls host.stop_nodes(), or has the one thread that all nodes share call it soon. Any thread
  /// may call this.
  virtual void stop() noexcept = 0;
  /// Ends all sleeps: no node sleeps again in this run, and those that do continue now.
  virtual void end_sleep() noexcept = 0;

  /// A clock for the calling node's own work: differences are time that it had a core. If threads
  /// outnumber cores that is their processor time, which takes a system call.
  virtual std::chrono::nanoseconds own_time() const noexcept = 0;
  /// How long the executor's threads together have had a core since start(), in a run that took
  /// `wall`. Only if the executor was created to measure times.
  virtual std::chrono::nanoseconds busy(std::chrono::nanoseconds wall) const = 0;
  /// The node that runs on the calling thread; -1: none from this executor.
  virtual Rank running_here() const noexcept = 0;
};

/// Throws UsageError if the system cannot provide this many threads, before one is started.
void require_threads(Rank nodes);
struct ExecutorSettings {
  Rank nodes = 0;
  int routers = 0;  ///< tasks beside the nodes: numbers nodes, nodes + 1, .. of the body
  Bytes stack_bytes = 0;
  int workers = 0;      ///< threads that fibers share, at most one per node; 0: one per core
  bool pin = false;     ///< MachineOptions::pin
  bool timing = false;  ///< measure times: busy() may be called
};
/// Throws UsageError that says how many threads are possible.
std::unique_ptr<NodeExecutor> make_thread_executor(ExecutorHost& host,
                                                   const ExecutorSettings& settings);
/// Throws UsageError that says how many stacks or threads are possible, or how many cores workers
/// can be pinned to.
std::unique_ptr<NodeExecutor> make_fiber_executor(ExecutorHost& host,
                                                  const ExecutorSettings& settings);

}  // namespace wormcube
