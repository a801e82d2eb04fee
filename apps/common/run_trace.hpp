// What nodes did in a real run, and when: kept in little memory, written as Chrome trace events.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/common/event_spool.hpp"
#include "wormcube/apps/common/trace.hpp"
#include "wormcube/runtime/machine/machine.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube {

/// Observes runs of node programs, by this computer's clock: each node's phases, steps, waits, the
/// messages of each step, its work.
///
/// A message's slice extends from the post of its step to the step's end, at its sender and at its
/// receiver: a node does not know when a single message of a step was complete. Arrows join the
/// two.
///
/// Messages in flits have a slice on each lane that they leave, from their head to their tail, and
/// each of the first flits has an instant.
///
/// A run only appends events. Memory is bounded: events go to a temporary file in batches,
/// unsorted. write() sorts them, piece by piece, finds the arrows and merges. Otherwise memory
/// holds only names and, in write(), the messages of which one end has arrived.
///
/// Threads  the nodes' and routers' during a run; the rest one at a time, between runs.
class RunTrace final : public NodeObserver, public FlitObserver {
 public:
  /// \param in_memory  events kept at once, 1 or more; 64 bytes each
  RunTrace(const Topology& topology, TraceCut cut, std::size_t in_memory = std::size_t{1} << 18U);
  ~RunTrace() override;
  RunTrace(const RunTrace&) = delete;
  RunTrace& operator=(const RunTrace&) = delete;

  /// The machine's options, so that waits and flits are observed, too.
  void observe(MachineOptions& options) {
    options.node_observer = this, options.flit_observer = this;
  }
  /// The program, observed.
  Program traced(const Program& program);
  /// Writes all observations, in order of time. \param other  further members of otherData:
  /// "\"a\":1"
  /// Throws UsageError if there was no space for the temporary file.
  TraceCounts write(const std::function<void(std::string_view)>& write, std::string_view other);

  void waits(Rank rank) noexcept override;
  void goes_on(Rank rank) noexcept override;
  void leaves(const LaneFlit& flit) noexcept override;

  struct Event;

 private:
  class SeenNode;
  using Clock = std::chrono::steady_clock;
  /// What a node has recorded; written by its own thread.
  struct Seen {
    bool in_step = false, left_out = false;
    std::size_t step = 0;
    std::int64_t wait_begin = 0;
  };

  /// A worm of which the head has left a lane.
  struct Passing {
    std::int64_t begin = 0;
    std::int32_t flits = 0;
  };

  void write_names(const std::function<void(std::string_view)>& write) const;
  std::int64_t now() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count();
  }
  void slice(const Event& event);
  void add(Event event);
  std::uint64_t find_arrows(EventSpool<Event>& arrows) const;

  const Topology topology_;
  const TraceCut cut_;
  const std::size_t in_memory_;
  const Clock::time_point start_ = Clock::now();
  std::vector<Seen> seen_;  // by rank
  std::atomic<std::uint64_t> left_out_{0};
  std::atomic<int> observed_{0};  // nodes whose program is observed

  std::mutex mutex_;  // guards what follows
  std::uint64_t slices_ = 0, order_ = 0;
  std::uint32_t run_ = 0;                  // of a program; its messages are its own
  std::map<std::int64_t, Passing> lanes_;  // by link and virtual channel
  std::size_t flits_ = 0;                  // with an instant
  std::unique_ptr<EventSpool<Event>> events_;
  std::map<std::string, std::int32_t, std::less<>> phases_;  // numbers of names
};

}  // namespace wormcube
