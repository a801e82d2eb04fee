// When the flits of a worm start on one link or port: arithmetic runs, the last one open.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/replay/machine_model.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace wormcube {

/// Flits first, first + 1, .. start at time, time + stride, ..
struct Run {
  std::int64_t first;
  Ticks time, stride;
  friend bool operator==(const Run&, const Run&) = default;
};

/// The runs of one worm on one stage, in order. A run ends where the next begins; the last one is a
/// forecast that continues until it is replaced.
class Starts {
 public:
  bool empty() const { return runs_.empty(); }
  void clear() { runs_.clear(); }
  const std::vector<Run>& runs() const { return runs_; }

  /// When flit k starts; `no_tick` if nothing is forecast.
  Ticks at(std::int64_t k) const {
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
      if (run->first <= k) return value(*run, k);
    }
    return no_tick;
  }

  /// A straight piece of the sequence: flit k starts at `time`, the next `length` - 1 ones `stride`
  /// apart.
  struct Piece {
    Ticks time, stride;
    std::int64_t length;
  };
  Piece piece(std::int64_t k) const {
    std::int64_t end = std::numeric_limits<std::int64_t>::max();
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
      if (run->first <= k) return {value(*run, k), run->stride, end - k};
      end = run->first;
    }
    return {no_tick, 0, end - k};
  }

  /// How many flits below `limit` start before `now`.
  std::int64_t before(Ticks now, std::int64_t limit) const {
    std::int64_t end = limit;
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
      if (run->time < now) {
        const std::int64_t count = run->first + (now - run->time + run->stride - 1) / run->stride;
        return std::min(count, end);
      }
      end = std::min(end, run->first);
    }
    return 0;
  }

  /// From flit k on: the run. Returns false if flits k and k + 1 were forecast so already.
  bool replace(std::int64_t k, Ticks time, Ticks stride) {
    if (!runs_.empty() && runs_.back().first <= k && value(runs_.back(), k) == time &&
        runs_.back().stride == stride) {
      return false;
    }
    cut(k);
    if (runs_.empty() || runs_.back().stride != stride || value(runs_.back(), k) != time) {
      runs_.push_back({k, time, stride});
    }
    return true;
  }
  /// Discards the forecast from flit k on, up to another forecast.
  void cut(std::int64_t k) {
    while (!runs_.empty() && runs_.back().first >= k) runs_.pop_back();
  }
  /// Ends at flit k: it and the later ones do not start, as far as is known.
  void stall(std::int64_t k) {
    cut(k);
    runs_.push_back({k, no_tick, 1});
  }
  void push(const Run& run) { runs_.push_back(run); }
  /// Discards runs that lie before flit k.
  void forget(std::int64_t k) {
    std::size_t keep = 0;
    while (keep + 1 < runs_.size() && runs_[keep + 1].first <= k) ++keep;
    runs_.erase(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(keep));
  }

 private:
  static Ticks value(const Run& run, std::int64_t k) {
    return run.time == no_tick ? no_tick : run.time + (k - run.first) * run.stride;
  }
  std::vector<Run> runs_;
};

}  // namespace wormcube
