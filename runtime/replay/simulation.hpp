// The simulation behind replay(): nodes that post steps, worms that ask for channels, and the
// phases of a tick.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/replay/event_queue.hpp"
#include "wormcube/runtime/replay/replay.hpp"

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace wormcube {

/// Worms are events of whole messages as long as a formula says when their flits start: requests
/// and releases of channels. Once a link is used by two channels at the same time (or a buffer is
/// too shallow for the full rate), the starts on each of the worm's stages are kept as runs that
/// hold until something near them changes: each stage's forecast is checked against the forecasts
/// of the stages before and after it and of the other channel of its link, and what must happen
/// first is an event. Everything that starts has effects in later ticks only, so what is forecast
/// for the tick that has come is final.
class Simulation {
 public:
  Simulation(const Schedule& schedule, const Routing& routing, const MachineModel& model,
             const ReplayOptions& options);
  Replay run();

 private:
  using Index = std::int32_t;  // of messages, worms and resources
  static constexpr Index none = -1;
  static constexpr Ticks past = -1;

  enum class Kind : std::uint8_t { post, ready, sent, delivered, release, request, stage };

  /// A channel (in store and forward, a link) or an ejection port.
  struct Resource {
    Channel channel;  // -1: an ejection port
    Index holder = none;
    std::int32_t stage = 0;  // of the holder
    Index first_waiting = none, last_waiting = none;
    Index partner = none;     // the other channel of the link
    Ticks last_start = past;  // of the last flit of worms that have left
    std::int64_t messages = 0, flits = 0;
    Ticks waited = 0;
    bool touched = false;
  };

  struct Worm {
    Index message = none;
    Index next_waiting = none;  // in its resource's list
    Index after = none;         // the worm that follows through its injection port
    std::int32_t hops = 0;
    std::int32_t granted_to = -1;  // the last stage that it holds, or held
    std::int32_t tails = 0;        // stages whose tail's start is known (runs: is past)
    std::int32_t released = 0;     // channels given back
    bool is_delivered = false;
    bool is_sent = false;
    bool in_runs = false;
    Ticks asks_at = no_tick;  // when it requests the next stage
    std::int64_t flits = 1;
    std::vector<Index> path;  // hops channels, then the ejection port
    std::vector<Ticks> requested, granted, tail;
    std::vector<Ticks> release_times;         // for an observer
    std::vector<std::int32_t> shared_stages;  // on links that another worm used meanwhile
    std::vector<Starts> starts;
    std::vector<Ticks> stage_event;   // when a stage is to be looked at again
    std::vector<Ticks> stage_queued;  // the earliest event for it in the queue: not later
    std::vector<bool> dirty;
  };

  struct NodeState {
    std::uint32_t step = 0;  // posted, or to be posted next
    bool posted = false;
    bool works = false;    // has work of its own before some step
    Index first_send = 0;  // of the step, in messages_
    Index next_send = 0;   // to go through the one port
    std::int32_t outstanding = 0;
    std::vector<std::pair<std::uint32_t, std::int32_t>> early;  // (step, messages that came)
  };

  // simulation.cpp
  void number_messages();
  void require_countable();
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
  Index port_of(Rank rank, Link link);
  void request(Index worm);
  void grant_touched();
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
  Ticks earliest(const Worm& worm, std::int32_t stage, std::int64_t flit) const;
  void forecast(Index worm, std::int32_t stage, std::int64_t flit, Ticks time, Ticks stride);
  void watch(Index worm, std::int32_t stage, std::int64_t flit, Ticks time, Ticks deviation);
  Ticks deviation(const Worm& worm, std::int32_t stage, std::int64_t flit, Ticks time,
                  Ticks stride) const;

  void push(Ticks time, Kind kind, Index subject, std::int32_t stage = 0) {
    queue_.push({time, static_cast<std::uint32_t>(kind) | static_cast<std::uint32_t>(stage) << 4U,
                 subject});
  }
  Worm& worm_at(Index worm) { return worms_[static_cast<std::size_t>(worm)]; }
  Resource& resource_at(Index index) { return resources_[static_cast<std::size_t>(index)]; }
  ReplayedMessage& message_of(const Worm& worm) {
    return messages_[static_cast<std::size_t>(worm.message)];
  }

  const Schedule& schedule_;
  const Routing& routing_;
  const MachineModel& model_;
  const ReplayOptions& options_;

  Ticks now_ = 0;
  EventQueue queue_;
  std::uint64_t events_ = 0;
  std::vector<ReplayedMessage> messages_;  // by (source, step, index) while it runs
  std::vector<std::uint32_t> op_of_;       // of each message, in its sender's log
  std::vector<NodeState> nodes_;
  std::vector<std::vector<Ticks>> steps_;
  std::vector<Ticks> finish_;
  std::size_t finished_ = 0;
  // Lock step: the nodes that take the step, those not complete yet, and the latest so far.
  std::size_t incomplete_ = 0;

  std::vector<Worm> worms_;
  std::vector<Index> free_worms_;
  std::vector<Resource> resources_;
  std::vector<Index> dense_;  // of channels, where there are few enough
  std::unordered_map<Channel, Index> sparse_;
  std::vector<Index> node_port_;
  std::unordered_map<Link, Index> link_port_;
  std::vector<Index> touched_;
  std::vector<Index> requesting_;
  std::vector<Rank> posting_;  // at once, without local work before
  bool is_running_ = false;
  std::vector<std::pair<Index, std::int32_t>> marked_;
  std::vector<Channel> route_;
  std::vector<std::pair<Link, Index>> last_of_port_;  // of the step being posted, all ports
  std::vector<ReplayedWait> waits_;
};

}  // namespace wormcube
