// A replay as a trace for Perfetto: Chrome trace event JSON, in modelled time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/common/event_spool.hpp"
#include "wormcube/runtime/replay/replay.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace wormcube {

/// The nodes and steps that are traced. An arrow needs both of its ends.
struct TraceCut {
  std::vector<Rank> nodes;  // ascending; empty: all
  std::size_t first_step = 0, last_step = static_cast<std::size_t>(-1);
  bool has(Rank rank) const;
  bool has_step(std::size_t step) const { return step >= first_step && step <= last_step; }
};

struct TraceCounts {
  std::uint64_t events = 0, left_out = 0;  // slices
};

/// Observes a replay, and writes it. Memory besides the replay's own result is bounded: a fixed
/// number of events is kept, more go to a temporary file.
class ReplayTrace final : public ReplayObserver {
 public:
  /// \param in_memory  events kept at once, 1 or more; 64 bytes each
  explicit ReplayTrace(TraceCut cut, std::size_t in_memory = std::size_t{1} << 18U);
  ~ReplayTrace() override;
  ReplayTrace(const ReplayTrace&) = delete;
  ReplayTrace& operator=(const ReplayTrace&) = delete;

  /// Which channels a worm held, and when.
  void delivered(const WormLife& worm) override;

  /// Writes the whole file, event by event, in order of time; once. \param other  further keys
  /// of "otherData", as JSON text without braces: "\"topology\":\"ring:4\""
  /// Throws UsageError if there was no space for the temporary file.
  TraceCounts write(const std::function<void(std::string_view)>& write, const Schedule& schedule,
                    const Routing& routing, const MachineModel& model, const Replay& replay,
                    std::string_view other);

  struct Event;

 private:
  TraceCut cut_;
  std::unique_ptr<EventSpool<Event>> events_;
  std::uint64_t holds_ = 0;
  std::unordered_set<Channel> channels_;  // that were held
};

}  // namespace wormcube
