// A replay as a trace for Perfetto and chrome://tracing: Chrome's trace event JSON, in modelled time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/replay/replay.hpp"

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube {

/// What is left out: nodes and steps outside. An arrow needs both of its ends.
struct TraceCut {
  std::vector<Rank> nodes;  // ascending; empty: all
  std::size_t first_step = 0, last_step = static_cast<std::size_t>(-1);
  bool has(Rank rank) const;
  bool has_step(std::size_t step) const { return step >= first_step && step <= last_step; }
};

/// Sees which channels each worm held, and when.
class ChannelHolds final : public ReplayObserver {
 public:
  struct Hold {
    Channel channel;
    Ticks from, to;
    Rank source, destination;
    std::uint32_t step;
  };
  explicit ChannelHolds(const TraceCut& cut) : cut_(cut) {}
  void delivered(const WormLife& worm) override;
  const std::vector<Hold>& holds() const { return holds_; }

 private:
  const TraceCut& cut_;
  std::vector<Hold> holds_;
};

struct TraceCounts {
  std::uint64_t events = 0, left_out = 0;  // slices
};

/// Writes the whole file, event by event, in the order of time. \param other  further keys of
/// "otherData", as JSON text without braces: "\"topology\":\"ring:4\""
TraceCounts write_trace(const std::function<void(std::string_view)>& write,
                        const Schedule& schedule, const Routing& routing, const MachineModel& model,
                        const Replay& replay, const ChannelHolds& holds, const TraceCut& cut,
                        std::string_view other);

}  // namespace wormcube
