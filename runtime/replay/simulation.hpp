// The simulation behind replay(): nodes that post steps, worms that ask for channels, and the
// phases of a tick.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/keyed_values.hpp"
#include "wormcube/runtime/replay/constraint.hpp"
#include "wormcube/runtime/replay/event_queue.hpp"
#include "wormcube/runtime/replay/replay.hpp"

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace wormcube {

/// Worms are events of whole messages as long as a closed form says when their flits start:
/// requests and releases of channels. Once a link is used by two channels at the same time (or a
/// buffer is too shallow for the full rate), the starts on each of the worm's stages are kept as
/// runs that hold until something near them changes: each stage's forecast is checked against the
/// forecasts of the stages before and after it and of the other channel of its link. Whatever must
/// happen first is an event. Each start has effects in later ticks only, so a forecast for the
/// current tick is final. Packets hold nothing while they wait: they are requests and grants alone.
class Simulation {
 public:
  Simulation(const Schedule& schedule, const Routing& routing, const MachineModel& model,
             const ReplayOptions& options);
  Replay run();

 private:
  using Index = std::int32_t;  // of messages, worms and resources
  static constexpr Index none = -1;

  static constexpr Channel ejection = -1, bus = -2;  // in place of a resource's channel

  enum class Kind : std::uint8_t { post, ready, sent, delivered, release, request, stage };

  /// A channel (where worms do not hold it, a link), an ejection port, or a node's bus.
  struct alignas(64) Resource {  // one line of the cache
    Channel channel;
    Index holder = none;
    std::int32_t stage = 0;  // of the holder
    Index first_waiting = none, last_waiting = none;
    Index partner = none;    // the other channel of the link
    bool is_second = false;  // virtual channel of its link
    bool touched = false;
    // Of the last flit of worms that have left. Of an ejection port of packets: when it has drained
    // the last of them.
    Ticks last_start = long_ago;
    std::int32_t messages = 0;
    std::int64_t flits = 0;
    Ticks waited = 0;
  };

  struct Stage {
    Index resource = none;
    Ticks requested = 0, granted = 0;
    Ticks tail = no_tick;  // when the last flit starts
  };

  /// The starts on a stage of a worm in runs.
  struct Flow {
    Starts starts;
    Ticks event = no_tick;   // when the stage is to be looked at again
    Ticks queued = no_tick;  // the earliest event for it in the queue: not later
    bool marked = false;     // is in marked_
  };

  /// What the stages beside one allow.
  struct Beside {
    const Starts* before = nullptr;  // the starts there; null: there is none
    const Starts* behind = nullptr;  // null: or it has not been granted
    Ticks hop = 0, credit = 0;       // from a start before, from one behind
    std::int64_t buffer = 0;         // flits between here and behind

    Ticks ready(std::int64_t flit) const {
      const Ticks arrival = before == nullptr ? long_ago : later(before->at(flit), hop);
      if (behind == nullptr || flit < buffer) return arrival;
      return std::max(arrival, later(behind->at(flit - buffer), credit));
    }
  };

  struct alignas(64) Worm {
    Index message = none;
    Index place = none;            // of the message, in messages_
    std::int32_t granted_to = -1;  // the last stage that it holds, or held
    std::int32_t last = 0;         // the stage of the ejection port: hops, and one more with a bus
    Ticks asks_at = no_tick;       // when it requests the next stage
    std::vector<Stage> stages;     // the bus if there is one, the channels, then the ejection port
    std::int32_t tails = 0;        // stages whose tail's start is known (runs: is past)
    std::int32_t released = 0;     // channels given back
    Index next_waiting = none;     // in its resource's list
    bool is_delivered = false;
    bool is_sent = false;
    bool in_runs = false;
    bool is_last = true;  // packet of its message
    Ticks sends_at = no_tick, delivers_at = no_tick;
    std::int64_t flits = 1;
    std::vector<Flow> flows;                  // by slot()
    std::vector<std::int32_t> shared_stages;  // on links that another worm used meanwhile
    std::int64_t first_flit = 0;              // of a packet, in its message
    Ticks waited = 0, waited_port = 0;        // of a packet
    std::vector<Ticks> release_times;         // for an observer
    Index after = none;                       // the worm that follows through its injection port

    Stage& at(std::int32_t stage) { return stages[static_cast<std::size_t>(stage)]; }
    const Stage& at(std::int32_t stage) const { return stages[static_cast<std::size_t>(stage)]; }
  };

  struct NodeState {
    std::uint32_t step = 0;  // posted, or to be posted next
    bool posted = false;
    bool works = false;         // has work of its own before some step
    Index first_send = 0;       // of the step, a message
    Index next_send = 0;        // to go through the one port
    std::uint32_t next_op = 0;  // in its log: no send before it becomes a worm any more
    std::int32_t outstanding = 0;
    std::vector<std::pair<std::uint32_t, std::int32_t>> early;  // (step, messages that came)
  };

  static bool is_other(const OpRecord& op, Rank rank) { return op.peer != rank; }

  // messages.cpp
  void number_messages();
  void require_countable();

  // simulation.cpp
  void loop();
  void phase_one(const EventQueue::Event& event);
  void post(Rank rank);
  void complete(Rank rank);
  void advance_all();
  Ticks gap(Rank rank, std::size_t step) const;
  void one_less(Rank rank);
  void arrived(Rank rank, std::uint32_t step);
  void start_up(Index worm);
  void worm_sent(Index worm);
  void worm_delivered(Index worm);
  void finish_worm(Index worm);

  // result.cpp
  Replay result();
  void describe_deadlock(Replay& replay) const;

  // network.cpp
  Index make_worm(Index message);
  Index resource_of(Channel channel);
  Index port_of(Rank rank);
  void request(Index worm);
  void grant_touched();
  void grant_buses();
  void grant(Index resource);
  void granted(Index worm, std::int32_t stage);
  void release(Index worm, std::int32_t stage);
  void touch(Index resource);
  void ask_later(Index worm, Ticks time);
  Ticks formula_tail(const Worm& worm, std::int32_t stage) const;
  void schedule_tails(Index worm);
  Ticks release_time(const Worm& worm, std::int32_t stage) const;
  std::vector<Run> formula_runs(const Worm& worm, std::int32_t stage) const;
  bool earlier(Index a, Index b) const;
  Index blank_worm(Index message);

  // slow_ports.cpp
  std::vector<Run> slow_formula_runs(const Worm& worm, std::int32_t stage) const;
  Ticks formula_at_link(const Worm& worm, std::int64_t flit) const;
  std::vector<Run> injection_runs(const Worm& worm) const;

  // packets.cpp
  void first_packet(Index worm);
  void next_packet(Index worm);
  void ask_when_there(Index worm);
  void packet_granted(Index worm, std::int32_t stage);
  void drain(Index port);
  void packet_drained(Index worm);
  void observe_packet(const Worm& worm);
  bool in_packets() const { return model_.forwarding == Forwarding::packets; }

  // Of worms, by stage. If ports are slower than links, the injection port is stage -1: the
  // per-stage arrays of runs in Worm have one more entry then.
  std::int32_t front() const { return slow_ports_ ? -1 : 0; }
  std::size_t slot(std::int32_t stage) const {
    return static_cast<std::size_t>(stage) + (slow_ports_ ? 1 : 0);
  }
  /// Ticks that a flit occupies it.
  Ticks rate(const Worm& worm, std::int32_t stage) const {
    return stage < 0 || stage == worm.last ? port_flit_ : model_.flit;
  }
  /// From a flit's start there to its earliest start on the next stage.
  Ticks hop(std::int32_t stage) const { return stage < 0 ? model_.port_flit() : model_.hop; }
  /// From a flit's start on the next stage to when its slot between them can be reused.
  Ticks credit(std::int32_t stage) const { return stage < 0 ? 0 : model_.credit; }
  /// Flits between it and the next stage.
  std::int64_t buffer(std::int32_t stage) const {
    return stage < 0 ? model_.port_buffer() : model_.slots;
  }

  // turns.cpp
  void share(Index resource);
  void to_runs(Index worm);
  bool tail_is_past(const Worm& worm, std::int32_t stage) const;
  void granted_in_runs(Index worm, std::int32_t stage);
  std::int64_t limit(const Worm& worm, std::int32_t stage) const;
  void mark(Index worm, std::int32_t stage);
  void settle_marked();
  void settle(Index worm, std::int32_t stage);
  void settle_alone(Index worm, std::int32_t stage, Ticks link_free, Ticks horizon);
  void settle_pair(Index worm, std::int32_t stage, Index other, std::int32_t other_stage);
  Ticks latest_start(const Worm& worm, std::int32_t stage, std::int64_t before) const;

  // forecast.cpp
  Beside beside(const Worm& worm, std::int32_t stage) const;
  void forecast(Index worm, std::int32_t stage, std::int64_t flit, Ticks time, Ticks stride);
  void watch(Index worm, std::int32_t stage, std::int64_t flit, Ticks time, Ticks deviation);
  static Ticks deviation(const Beside& beside, std::int64_t flits, Ticks least, std::int64_t flit,
                         Ticks time, Ticks stride);

  void push(Ticks time, Kind kind, Index subject, std::int32_t stage = 0) {
    queue_.push({time,
                 static_cast<std::uint32_t>(kind) | static_cast<std::uint32_t>(stage + 1) << 4U,
                 subject});
  }
  Worm& worm_at(Index worm) { return worms_[static_cast<std::size_t>(worm)]; }
  Resource& resource_at(Index index) { return resources_[static_cast<std::size_t>(index)]; }
  ReplayedMessage& message_of(const Worm& worm) {
    return messages_[static_cast<std::size_t>(worm.place)];
  }
  const ReplayedMessage& message_of(const Worm& worm) const {
    return messages_[static_cast<std::size_t>(worm.place)];
  }

  const Schedule& schedule_;
  const Routing& routing_;
  const MachineModel& model_;
  const ReplayOptions& options_;
  const bool slow_ports_;
  const Ticks port_flit_;

  Ticks now_ = 0;
  EventQueue queue_;
  std::uint64_t events_ = 0;
  // Messages are numbered by (source, step, index), the order in which ties are decided, and stored
  // by (step, source, index), the order of the result.
  std::vector<Index> place_;
  std::vector<ReplayedMessage> messages_;
  std::vector<NodeState> nodes_;
  std::vector<std::vector<Ticks>> steps_;
  std::vector<Ticks> finish_;
  std::size_t finished_ = 0;
  // Lock step: the nodes that take the step, those not complete yet, and the latest so far.
  std::size_t incomplete_ = 0;

  std::vector<Worm> worms_;
  std::vector<Index> free_worms_;
  std::vector<Resource> resources_;
  KeyedValues<Index> channel_resource_;  // where worms do not hold channels, of links
  std::vector<Index> node_port_, node_bus_;
  KeyedValues<Index> link_port_;
  std::vector<Index> touched_;
  std::vector<Index> requesting_;
  std::vector<Rank> posting_;  // at once, without local work before
  bool is_running_ = false;
  std::vector<std::pair<Index, std::int32_t>> marked_;
  std::vector<Channel> route_;
  std::vector<std::pair<Link, Index>> last_of_port_;  // of the step being posted, all ports
  std::vector<ReplayedWait> waits_;

  /// What an observer is shown of a message in packets, as far as they have arrived.
  struct PacketLife {
    std::vector<Ticks> requested, granted, released;
    std::vector<std::vector<Run>> starts;
  };
  std::unordered_map<Index, PacketLife> lives_;
};

}  // namespace wormcube
