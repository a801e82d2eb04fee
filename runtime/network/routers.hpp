// The routers of a network: tasks that move flits from lane to lane.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/lane.hpp"
#include "wormcube/runtime/network/lazy_table.hpp"
#include "wormcube/runtime/network/link_fault.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace wormcube {

class Network;
class FlitObserver;
class NetworkHost;
class RouterTask;

struct RouterSettings {
  std::size_t capacity = 4;  ///< flits that a lane holds
  int tasks = 1;             ///< each works the routers of a block of neighbouring nodes
  std::vector<FaultyLink> faults = {};
  /// Seeds the order in which inputs have their turns; empty: first come, first served.
  std::optional<std::uint64_t> shuffle = {};
  FlitObserver* observer = nullptr;
};

/// A router for each node: its inputs are the lanes that enter the node and its injection ports,
/// its outputs the lanes that leave and its ejection ports. A task works the routers of a block of
/// nodes. It takes a message's flits from the sender's memory, as a direct memory access engine
/// does. The head takes lane after lane; the tail frees each as it enters. A destination always
/// accepts: flits go to the receive that the head has found, or into a buffer of the tag table. A
/// send is complete as with one copy: when its message has arrived or is kept, or when a receive
/// has taken it. So a worm stays its sender's until then, and needs no copy of its header.
///
/// Threads       launch, resume: any thread. run: the task's. The others: between runs, or while
///               all wait.
/// Invariants    all that a task's routers have is plain data of that task, but for the queues of
///               the lanes that cross to another task, and the inbox. A worm belongs to the router
///               where its head is, later to the one where it arrives.
/// Memory order  take_turns()'s: a task that has pushed to or popped from a lane of another task
///               calls that task after the pass.
class Routers {
 public:
  Routers(Network& network, NetworkHost& host, RouterSettings settings, bool all_port);
  ~Routers();

  int tasks() const { return static_cast<int>(tasks_.size()); }
  int task_of(Rank node) const { return static_cast<int>(std::int64_t{node} * tasks() / nodes_); }

  /// The sender's node gives its worm to its router.
  void launch(Worm& worm) noexcept;
  /// The worm has the tag table that it waited for.
  void resume(Worm& worm) noexcept;
  /// The body of a task in one run: until the host says that all nodes have ended.
  void run(int task) noexcept;

  /// Calls f(lane) for each lane there is, ascending.
  void each_lane(const std::function<void(const LinkLane&)>& f) const;
  /// A line for each worm that holds a lane or waits for one, and one for each lane that has lost
  /// flits.
  std::string description() const;
  void reset();

 private:
  friend class RouterTask;
  /// The ports of a node, or with all ports those of a link: injection where it begins, ejection
  /// where it ends.
  struct Ports {
    alignas(64) Input injection;
    alignas(64) Output ejection;
  };
  LinkLane& lane(const Worm& worm, std::size_t entry);
  Ports& ports(const Worm& worm, bool at_end);
  int task_at(Link link, Rank end) const;
  LinkFault fault_of(Link link) const;

  Network& network_;
  NetworkHost& host_;
  const RouterSettings settings_;
  const bool all_port_;
  const Rank nodes_;
  LazyTable<LinkLane> lanes_;
  LazyTable<Ports> ports_;
  std::vector<std::unique_ptr<RouterTask>> tasks_;
};

}  // namespace wormcube
