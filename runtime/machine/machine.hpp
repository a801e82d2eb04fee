// The machine: runs a node program on every node of a topology, over the wormhole network.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/observer.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace wormcube {

enum class NodesAs : std::uint8_t { threads, fibers };

struct MachineOptions {
  NodesAs nodes_as = NodesAs::threads;
  bool all_port = false;     ///< one injection and ejection port per link, instead of one per node
  int virtual_channels = 2;  ///< per ring link: 2 (dateline) or 1
  std::size_t channel_capacity = 4;  ///< flits that a virtual channel holds, >= 1
  /// Messages of at most so many bytes travel in flits; longer ones are copied once.
  Bytes eager_limit = 1024;
  bool lock_step = false;     ///< a barrier after every step
  bool allow_cycles = false;  ///< run although the channel dependency graph has a cycle
  std::chrono::milliseconds time_limit{0};  ///< 0: none
  Bytes stack_bytes = Bytes{1} << 20;       ///< per node
  NetworkObserver* observer = nullptr;      ///< told of each reservation; for tests and traces
};

struct LinkStatistics {
  Link link;
  std::uint64_t messages = 0;
  Bytes bytes = 0;
  std::uint64_t blocked = 0;  ///< headers that had to wait for one of the link's channels
};

struct NodeStatistics {
  std::uint64_t steps = 0;
  std::uint64_t messages = 0;               ///< sent
  Bytes bytes = 0;                          ///< sent
  std::uint64_t parked = 0;                 ///< times that the node gave up its core to wait
  Bytes peak_bytes = 0;                     ///< most memory() held at once
  Bytes peak_block_bytes = 0;               ///< of that, for Purpose::blocks
  std::chrono::nanoseconds local{0};        ///< in local()
  std::chrono::nanoseconds rearranging{0};  ///< in rearrange()
  std::chrono::nanoseconds combining{0};    ///< in combine()
  std::chrono::nanoseconds stepping{0};     ///< in step(): posting, copying for others, waiting
};

struct Statistics {
  std::chrono::nanoseconds wall{0};
  std::vector<NodeStatistics> nodes;
  std::vector<LinkStatistics> links;  ///< those that carried or blocked a message, ascending
};

/// A multicomputer. Its nodes live as long as it does: run() wakes them, then they sleep again.
///
/// Threads  one at a time may call run().
class Machine {
 public:
  /// Throws UsageError if the routing's channel dependency graph has a cycle (unless allow_cycles),
  /// or an option is out of range.
  explicit Machine(Topology topology, MachineOptions options = {});
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  const Topology& topology() const;
  const MachineOptions& options() const;

  /// Runs the program on every node, returns when all have finished. Statistics: of this run alone.
  ///
  /// Throws Deadlock with a table if all nodes wait and nothing is in flight; TimeLimit; UsageError
  /// or NodeFailure with the rank in front for the first exception of a node program. The machine
  /// can run again after each of these.
  Statistics run(const Program& program);

  /// The same, traced: each node's log goes to schedule.ranks[rank].
  Statistics run(const Program& program, Schedule& trace);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wormcube
