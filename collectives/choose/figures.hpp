// A figure for each call, which decides between algorithms: a replayed or measured time, or work.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/choose/ranking.hpp"
#include "wormcube/runtime/replay/machine_model.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace wormcube {

inline double microseconds_of(Ticks ticks) { return static_cast<double>(ticks) / 1e6; }

/// A figure for each call on one network, computed once; lower is better. Times are in ticks.
class CallFigures {
 public:
  struct Answer {
    std::optional<std::int64_t> figure;
    std::string reason;  // if there is no figure
  };
  virtual ~CallFigures() = default;
  /// Throws UsageError, with both numbers, if calls with this many messages in total would take
  /// minutes. \param what  "best of alltoall on torus:64x64"
  virtual void require_affordable(std::string_view /*what*/, double /*messages*/) const {}
  const Answer& operator()(const Collective& collective, Bytes block_bytes, bool all_port);
  /// Computes the figures of all these calls at once, if that is faster, for operator().
  /// \param needed  how many of the lowest figures are needed; the other calls may get none
  virtual void compute(std::span<const Priced> /*calls*/, Bytes /*block_bytes*/, Ports /*ports*/,
                       std::size_t /*needed*/) {}
  static constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  /// A figure as tables show it: microseconds.
  virtual double shown(std::int64_t figure) const { return microseconds_of(figure); }

  struct Least {
    Collective collective;
    std::optional<std::int64_t> figure;  // empty: no call has a figure, and the formulas chose
  };
  /// The algorithm that `auto` picks: the lowest figure among its candidates, each with the options
  /// of lowest modelled time; the formula breaks ties. Throws UsageError if none runs.
  Least least(const Choice& choice);
  /// The same among these, which are not empty.
  Least least(std::span<const Priced> ranked, Bytes block_bytes, Ports ports);

 protected:
  explicit CallFigures(const Topology& topology) : topology_(topology) {}
  const Topology& topology() const { return topology_; }

  static std::string key(const Collective& collective, Bytes block_bytes, bool all_port);
  bool is_known(const std::string& key) const { return answers_.contains(key); }
  void keep(std::string key, Answer answer) { answers_[std::move(key)] = std::move(answer); }

 private:
  virtual Answer figure_of(const Collective& collective, Bytes block_bytes, bool all_port) = 0;
  const Topology& topology_;
  std::map<std::string, Answer> answers_;
};

/// An upper bound on the messages of all these calls; those without a formula are not counted.
double messages_of(std::span<const Priced> ranked, Rank nodes);

}  // namespace wormcube
