// The options of a machine.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/messaging_options.hpp"
#include "wormcube/runtime/network/link_fault.hpp"
#include "wormcube/runtime/network/observer.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace wormcube {

/// How a message's bytes go from the sender's memory to the receiver's.
enum class Transport : std::uint8_t {
  copy,   ///< in one copy, when the whole path is held
  flits,  ///< through the bounded queue of every link on the path, moved by routers
};

enum class ExecutorKind : std::uint8_t { threads, fibers };

/// Notified when a node blocks or resumes, for traces.
///
/// Threads  each node's own thread calls it.
class NodeObserver {
 public:
  virtual ~NodeObserver() = default;
  /// The node is about to block.
  virtual void waits(Rank rank) noexcept = 0;
  virtual void goes_on(Rank rank) noexcept = 0;
};

struct MachineOptions {
  ExecutorKind executor = ExecutorKind::threads;
  bool all_port = false;     ///< one injection and ejection port per link, instead of one per node
  int virtual_channels = 2;  ///< per ring link: 2 (dateline) or 1
  Transport transport = Transport::copy;
  // With Transport::flits only.
  std::size_t channel_capacity = 4;  ///< flits that a lane holds, 1 to most_channel_capacity
  /// Threads that routers share beside nodes that are threads; 0: one per usable core. A flit that
  /// crosses between two of them may cost a wake-up, so one is the fastest (bench/README.md).
  int routers = 1;
  std::vector<FaultyLink> faults = {};
  /// A message of at most this many bytes whose receive is not posted yet is kept at the receiver,
  /// so its send is complete. A longer one waits in the sender's memory until it is received.
  Bytes eager_limit = 1024;
  MessagingOptions messaging = {};
  bool lock_step = false;  ///< a barrier after every step
  /// Steps of a node that may be under way at once, 1 to most_window: a step returns when all but
  /// the latest window - 1, including itself, are complete. All are complete before the node does
  /// local work, frees memory that they use, takes a step whose data overlap theirs, sends after an
  /// empty receive, makes a request or ends. So a program cannot observe the window if it touches
  /// data in local work only, and if the data of its steps lies in memory(), on its stack, or lives
  /// until it ends (docs/reference/node-programs.md). In lock step it is 1.
  int window = 1;
  bool allow_cycles = false;  ///< run although the channel dependency graph has a cycle
  /// Moves may take the dimensions in any order: the caller that sets this has checked the routes.
  bool any_order = false;
  bool timing = false;  ///< measure the times of NodeStatistics: two clock reads per step and local
  /// 0: no limit. After this time, every step ends with Stopped. Code outside of steps (a long
  /// local, an endless loop) cannot be interrupted: run() waits for it, however long it takes. See
  /// on_overrun.
  std::chrono::milliseconds time_limit{0};
  /// Called by the thread in run() if nodes still run this long after the time limit; once a run.
  /// It may end the process; if it returns, run() continues to wait. If it throws, run() throws
  /// that in place of TimeLimit, when all nodes have ended. Empty: not called.
  std::function<void(const std::string& text)> on_overrun = {};
  std::chrono::milliseconds overrun_grace{1000};
  Bytes stack_bytes = Bytes{1} << 20;  ///< per node; less than least_stack_bytes counts as that
  /// Threads that fibers run on, at most one per node; 0: one per usable core.
  int workers = 0;
  /// Pin each worker to a core. Nodes that are threads are assigned to the cores in contiguous
  /// blocks. Only the cores that the process itself is bound to are used.
  bool pin = false;
  NetworkObserver* observer = nullptr;    ///< notified of each reservation; for tests and traces
  NodeObserver* node_observer = nullptr;  ///< notified of each wait
  FlitObserver* flit_observer = nullptr;  ///< notified of flits, with Transport::flits

  static constexpr int most_window = 1024;
  static constexpr std::size_t most_channel_capacity = std::size_t{1} << 20;
  static constexpr Bytes least_stack_bytes = Bytes{64} << 10;  ///< to throw and format a text
};

}  // namespace wormcube
