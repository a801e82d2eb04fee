// Replay: a schedule on the modelled network, as a simulation of discrete events in whole numbers.
// docs/explanation/replay.md has the model.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/replay/machine_model.hpp"
#include "wormcube/runtime/replay/starts.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace wormcube {

/// The course of one message. Times are ticks from the beginning; `no_tick` if a deadlock came
/// first.
struct ReplayedMessage {
  Rank from = 0, to = 0;
  std::uint32_t step = 0;
  std::uint32_t index = 0;  // among its node's sends of the step
  Tag tag = 0;
  std::int32_t hops = 0;
  Bytes bytes = 0;
  Ticks posted = no_tick;     // its step, at its sender
  Ticks ready = no_tick;      // its start-up is over
  Ticks sent = no_tick;       // the tail has left the sender
  Ticks at_port = no_tick;    // it was granted the ejection port
  Ticks delivered = no_tick;  // the tail has arrived
  Ticks waited = 0;           // for channels and the ejection port
  Ticks waited_port = 0;      // of these, for the port
  Ticks shared = 0;           // by turns on links, and for slots
  friend bool operator==(const ReplayedMessage&, const ReplayedMessage&) = default;
};

struct ReplayedChannel {
  Channel channel;
  std::int64_t messages, flits;
  Ticks busy;    // flits x flit time
  Ticks waited;  // by worms that requested it
  friend bool operator==(const ReplayedChannel&, const ReplayedChannel&) = default;
};

/// From request to grant: which worm waited, and for which. One entry for each holder meanwhile.
struct ReplayedWait {
  std::size_t message, holder;  // in Replay::messages
  Channel channel;              // -1: the ejection port of the message's destination
  Ticks from, ticks;
  friend bool operator==(const ReplayedWait&, const ReplayedWait&) = default;
};

struct Replay {
  std::optional<Ticks> time;  // the last finish; none after a deadlock, or if stopped
  bool stopped = false;       // it takes longer than ReplayOptions::limit; the rest is incomplete
  std::string deadlock;       // what each worm waits for, one per line; empty without
  // The channels of one cycle of worms that wait for each other, of a deadlock.
  std::vector<Channel> cycle;
  std::vector<ReplayedMessage> messages;  // by (step, source, index); without those to oneself
  std::vector<Ticks> finish;              // of each node
  std::vector<std::vector<Ticks>> steps;  // of each node: when each of its steps was complete
  std::vector<ReplayedChannel> channels;  // that carried anything, ascending
  std::vector<ReplayedWait> waits;        // if asked for; by message, then time
  std::size_t blocked = 0;                // messages that waited or shared
  Ticks lost = 0;                         // of all of them together
  std::uint64_t events = 0;               // that the simulation took
};

/// A worm that was delivered, as an observer sees it: stage i is the i-th channel of its route, the
/// last stage its ejection port.
struct WormLife {
  const ReplayedMessage& message;
  std::span<const Channel> route;
  std::span<const Ticks> requested, granted;  // of each stage
  std::span<const Ticks> released;            // of each channel of the route
  std::span<const std::vector<Run>> starts;   // of the flits on each stage; runs end at the tail
  std::int64_t flits;
};

class ReplayObserver {
 public:
  virtual ~ReplayObserver() = default;
  virtual void delivered(const WormLife& worm) = 0;
};

struct ReplayOptions {
  bool steps = true;   // fill Replay::steps
  bool waits = false;  // fill Replay::waits
  ReplayObserver* observer = nullptr;
  bool checked = false;  // check() found that sends and receives match: it is not called again
  Ticks limit = std::numeric_limits<Ticks>::max();  // if it takes longer, it is stopped
};

struct ScheduleReport;
/// Throws UsageError unless sends and receives match.
void require_matched(const ScheduleReport& report);

/// Computes when each message is delivered and each step complete. A pure function: no clock, no
/// threads, no random choice; ties are broken as docs/explanation/replay.md says.
///
/// Throws UsageError, before anything runs, if the schedule and the routing are for different
/// topologies, sends and receives do not match, the model has a constant out of range, or times may
/// not fit 64 bits.
Replay replay(const Schedule& schedule, const Routing& routing, const MachineModel& model,
              const ReplayOptions& options = {});

}  // namespace wormcube
