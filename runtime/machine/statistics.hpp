// What a run reports of its nodes, its links and the computer's cores.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/requests.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

namespace wormcube {

struct LinkStatistics {
  /// What one virtual channel of the link carried.
  struct Channel {
    std::uint64_t messages = 0;
    Bytes bytes = 0;
    /// With Transport::flits: how many flits found 0, 1, .. others in the lane's queue; its sum is
    /// the flits that passed.
    std::vector<std::uint64_t> occupancy = {};
    std::uint64_t waited = 0;  ///< turns of a router in which the lane's front flit did not move
  };

  Link link;
  std::uint64_t messages = 0;
  Bytes bytes = 0;
  std::array<Channel, 2> channels = {};  ///< messages and bytes again, by virtual channel
  /// Headers that found one of the link's channels taken, as the host scheduled its threads. This
  /// does not measure the network's contention, which check() computes.
  std::uint64_t blocked = 0;
};

struct NodeStatistics {
  std::uint64_t steps = 0;
  std::uint64_t messages = 0;  ///< sent
  Bytes bytes = 0;             ///< sent
  std::uint64_t parked = 0;    ///< times that the node gave up its core to wait
  Bytes peak_bytes = 0;        ///< most memory() held at once
  Bytes peak_block_bytes = 0;  ///< of that, for Purpose::blocks
  std::uint64_t polls = 0;     ///< unsuccessful polls of its requests
  /// With MessagingOptions::unexpected_limit: most bytes kept of unexpected messages, with their
  /// headers.
  Bytes peak_unexpected_bytes = 0;
  // With MachineOptions::timing, else 0. The first three are time in which the node had a core.
  std::chrono::nanoseconds local{0};        ///< in local()
  std::chrono::nanoseconds rearranging{0};  ///< in rearrange()
  std::chrono::nanoseconds combining{0};    ///< in combine()
  std::chrono::nanoseconds stepping{0};     ///< in step(): posting, copying for others, waiting
};

/// What the computer's cores did during a run; the sum is cores times wall time. With more nodes
/// than cores a node's own clock shows little: while it waits in a step, others compute on its
/// core.
struct CoreTimes {
  int cores = 0;  ///< that the process may use; 0: not measured
  std::chrono::nanoseconds computing{0}, rearranging{0}, combining{0};  ///< in nodes' own work
  /// Copying messages. With Transport::flits only those that were unexpected: what routers do is in
  /// `network`.
  std::chrono::nanoseconds moving_data{0};
  std::chrono::nanoseconds network{0};  ///< everything else: routing, matching, switching nodes
  std::chrono::nanoseconds idle{0};     ///< idle, or used by other programs
};

struct Statistics {
  std::chrono::nanoseconds wall{0};
  CoreTimes cores;  ///< with MachineOptions::timing
  std::vector<NodeStatistics> nodes;
  std::vector<LinkStatistics> links;  ///< those that carried or blocked a message, ascending
  std::vector<UnreceivedMessage> unreceived;  ///< with MessagingOptions::allow_unreceived
};

}  // namespace wormcube
