// The wormhole network: moves worms from node to node over reserved paths.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/host/huge_pages.hpp"
#include "wormcube/runtime/network/channel.hpp"
#include "wormcube/runtime/network/channel_table.hpp"
#include "wormcube/runtime/network/lazy_table.hpp"
#include "wormcube/runtime/network/message.hpp"
#include "wormcube/runtime/network/observer.hpp"
#include "wormcube/runtime/network/tag_table.hpp"
#include "wormcube/runtime/node/requests.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace wormcube {

class KnownPaths;
class Routers;
struct Arrival;
struct RouterSettings;

/// What the network reports to the machine.
class NetworkHost {
 public:
  virtual ~NetworkHost() = default;
  /// One awaited send or receive of this node is complete. The network no longer touches the worm
  /// or receive.
  virtual void completed(Rank node) noexcept = 0;
  /// The same for one that the node watches.
  virtual void noticed(Rank node) noexcept = 0;
  /// A message does not fit its receive; failed() is called as well.
  virtual void wrong(const WrongMessage& /*message*/) noexcept {}
  /// A worm or receive of this node cannot continue: it does not fit its other end, the observer
  /// has thrown, or there is no memory. It never completes. Called by the thread that carried it.
  /// \param step  Transfer::step
  virtual void failed(Rank node, std::uint64_t step, std::exception_ptr error) noexcept = 0;
  /// Asks a node to carry on its own worm or receive, with Network::carry_on(). True: it will, and
  /// the caller must not touch the waiter. False: it is busy.
  virtual bool give_back(Rank node, Waiter& waiter) noexcept = 0;

  // For routers: called by the task that works them, but for call_router.

  /// Wakes this task, or keeps it from waiting: there is something for its routers. Any thread.
  virtual void call_router(int /*task*/) noexcept {}
  /// Before it looks.
  virtual void answer_calls(int /*task*/) noexcept {}
  /// It has nothing to do until it is called. Returns at once if it was called since it answered.
  virtual void wait_for_call(int /*task*/) {}
  /// After it has moved flits, or once before it waits.
  virtual void let_others_run(int /*task*/, bool /*it_moved*/) {}
  virtual bool all_nodes_have_ended() const noexcept { return false; }
  virtual bool is_stopping() const noexcept { return false; }

  /// With Settings::timing: the clock of the calling node, and how long it has moved data.
  virtual std::chrono::nanoseconds own_time() noexcept = 0;
  virtual void moved_data(Rank node, std::chrono::nanoseconds time) noexcept = 0;
};

/// Moves worms. A worm reserves, in this order and keeping what it holds: its sender's injection
/// port, each virtual channel of its route, its receiver's ejection port, its receiver's tag
/// table. With the table it finds a posted receive, and its payload moves, in one copy from memory
/// to memory while the path is held. Or it finds none: then a payload of up to `eager_limit` bytes
/// moves in the same way into a buffer of the table for unexpected messages; a longer one's header
/// is absorbed there. Either way the path is free again; an absorbed message is copied by the
/// receive that comes later, and the sender's memory stays pinned until then.
///
/// No thread waits in here. A worm that cannot have its next reservation stays behind in that
/// reservation's queue. The thread that releases it takes the worm over and moves header and body
/// on. So the network makes progress whenever any node runs, whatever the receiver does, and
/// ejection ports never need draining. A visit that has carried `most_carried` worms of others, or
/// copied `most_moved` bytes (an action counts as its message's bytes), returns the rest to their
/// owners, if these wait. So a step is not delayed by worms that keep queueing for what it
/// releases.
///
/// Threads     launch, post and carry_on: the node that owns the worm or receive; they call
///             host.completed for any node. Where all nodes share one thread nothing in here needs
///             a locked instruction, and none is used (use_one_thread); and a worm whose path is
///             free need not reserve it, since nobody else runs before it has arrived.
/// Invariants  a worm belongs to one thread at a time. A thread that works in here works through
///             its own list of waiters that it must carry on, in the order in which it received
///             them, and leaves when the list is empty; it holds nothing then. Reservations are
///             taken in an order that is acyclic if the channel dependency graph is: ports before
///             and after all channels, the tag table last, held only for a search or the copy of a
///             short message. A waiter that is given back has its reservation already: whoever
///             carries it on goes on from there. A body waits for nothing and cannot fail. So
///             whatever stops a node, it stops between bodies.
/// Memory order  for a body. The sender's node has written it before launch(); the receiver's node
///               has finished with its room before post(). The copying thread is one of the two, or
///               got the worm from a reservation's queue, and the receive from the table that the
///               worm holds. Each transfer of ownership is a release and an acquire (Reservation),
///               so both nodes' writes come before the copy. After it comes settle() of each end
///               (Transfer), a release: the receiver, which acquires that, sees the body; the
///               sender, which acquires that, may write to its memory again, and not before: until
///               then the copying thread owns it. A stopped node keeps both ends' memory until no
///               node is in the network (EmulatedNode).
class Network {
 public:
  struct Settings {
    bool all_port;
    Bytes eager_limit;
    NetworkObserver* observer;
    bool timing;
    Bytes unexpected_limit = 0;  ///< as MachineOptions
    TagTable::Limits early = TagTable::usual;
    const RouterSettings* routers = nullptr;  ///< null: one thread copies a whole message
  };
  static constexpr int most_carried = 16;
  static constexpr Bytes most_moved = Bytes{64} << 10;

  Network(Routing routing, Settings settings, NetworkHost& host);
  ~Network();

  const Routing& routing() const { return routing_; }
  /// Once, before the first message: says that all nodes run on one thread.
  void use_one_thread() { one_thread_ = true; }

  /// Sets the worm's path to op's destination and its addresses; nothing is reserved.
  void address(Worm& worm, Rank from, const Op& op);
  /// In a large network: prefetches what a message of this node, or to it, will touch.
  void prefetch(Rank rank) const noexcept {
    if (!known_paths_.empty() || settings_.all_port) return;
    const auto i = static_cast<std::size_t>(rank);
    __builtin_prefetch(&node_ports_[i], 1);
    tables_[i].prefetch();
  }
  void launch(Worm& worm) noexcept;
  void post(Receive& receive) noexcept;
  void ask(TagQuery& query) noexcept;
  /// What was given back to its owner: a chain by Waiter::next, the oldest first.
  void carry_on(Waiter* given_back) noexcept;

  // For routers.

  Routers* routers() { return routers_.get(); }
  const Routers* routers() const { return routers_.get(); }
  /// The number of this run.
  std::uint64_t run() const { return run_; }
  /// A channel that the caller's worm holds; its counts belong to this run.
  VirtualChannel& counted(VirtualChannel& channel) {
    if (channel.is_new(run_)) mark(channel);
    return channel;
  }
  /// Tells the observer that the worm has this channel.
  void notify(const Worm& worm, Channel channel, int hop) {
    if (settings_.observer != nullptr)
      settings_.observer->reserved(worm.from, worm.to, channel, hop);
  }
  /// The worm has arrived: asks for its destination's tag table. False: Routers::resume() follows.
  bool enter_table(Worm& worm) noexcept;
  /// With the table: finds the worm's receive or a buffer; releases the table.
  void match(Worm& worm, Arrival& arrival) noexcept;
  /// The tail has arrived. With the table, unless the head has found a receive; releases it. The
  /// worm is its sender's again.
  void finish(Worm& worm, const Arrival& arrival) noexcept;

  /// The name of an entry of a worm's path: "channel 3->4 vc 1", "injection port of node 3", ...
  /// Only while no thread is in the network.
  std::string describe(const Worm& worm, std::size_t entry) const;
  /// The names of the links that a worm holds.
  std::string held_links(const Worm& worm) const;

  /// The size in bytes of the network's tables before the first message.
  static double bytes_of_tables(const Routing& routing, const Settings& settings);

  /// Calls f(channel) for each channel that this run has used, ascending. Only between runs.
  void each_channel(const std::function<void(const VirtualChannel&)>& f) const;
  /// A description of a message that was never received. Only between runs.
  std::optional<std::string> leftover() const;
  /// All such messages, node by node. Only while no thread is in the network.
  std::vector<UnreceivedMessage> unreceived() const;
  /// The peak bytes of unexpected messages that a node has kept since the last call. Only between
  /// runs.
  Bytes take_early_peak(Rank rank) { return tables_[static_cast<std::size_t>(rank)].take_peak(); }
  /// Starts another run: statistics restart. What the last run used must be free.
  void begin_run() { ++run_; }
  /// Frees all reservations, discards all messages. Only between runs.
  void reset();

 private:
  struct alignas(64) LinkPorts {  // two nodes' ports share no cache line
    Reservation injection, ejection;
  };
  template <class Threads, bool flits>
  class Drive;

  template <class F>
  void drive(Rank visitor, F&& f) noexcept;
  template <class F>
  auto drive_in_flits(Rank visitor, F&& f) noexcept;
  // Not inlined, like others that few messages need: so the rest is.
  [[gnu::noinline]] void mark(const VirtualChannel& channel) { channels_.mark(channel.id(), run_); }
  void find_path(Worm& worm, const Op& op);

  Routing routing_;
  Settings settings_;
  NetworkHost& host_;
  ChannelTable channels_;
  LazyTable<LinkPorts> link_ports_;  // all-port; and one per node, for messages to itself
  // In a large network, accessed at random.
  std::vector<LinkPorts, HugePages<LinkPorts>> node_ports_;  // one-port
  std::vector<TagTable, HugePages<TagTable>> tables_;
  std::vector<KnownPaths> known_paths_;  // of each node; none in a large network
  std::uint64_t run_ = 1;                // its number
  bool one_thread_ = false;
  std::unique_ptr<Routers> routers_;
};

}  // namespace wormcube
