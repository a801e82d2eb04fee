// The modelled cost of an algorithm on a network, contention included: by prediction, or counted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace wormcube {

/// How the contention of a prediction is known.
enum class Contention : std::uint8_t {
  none,     ///< no two messages share a link: the source claims it, and checks test the claim
  formula,  ///< predicted by the algorithm
  counted,  ///< counted in a dry run, if there is no closed form and the network is small
  unknown,  ///< unknown: the time is a lower limit
};
std::string_view to_string(Contention contention);

/// count(schedule, bytes of its blocks) for a dry run; nothing if it would have more than 2^17
/// messages, or if the program refuses. With the smallest blocks, or if blocks differ in size, with
/// those of a call with blocks of this size and seed 1.
/// \param startups  if known
std::optional<double> counted(const Collective& collective, const Topology& topology,
                              const std::optional<double>& startups, Bytes block_bytes,
                              const std::function<double(const Schedule&, Bytes)>& count);

/// Where a count comes from.
enum class CountedBy : std::uint8_t { formula, counted, unknown };
std::string_view to_string(CountedBy by);

struct Weighed {
  /// The algorithm's prediction, and what a dry run counted where it has no formula.
  Prediction prediction;
  Contention contention = Contention::unknown;
  CountedBy startups = CountedBy::unknown, transmission = CountedBy::unknown,
            rearranged = CountedBy::unknown, combined = CountedBy::unknown,
            link = CountedBy::unknown, hops = CountedBy::unknown;
  /// Of injected_blocks: `formula` also where no bus asks for them.
  CountedBy injected = CountedBy::unknown;
  /// If the hops are unknown: as if each step had the network's longest route.
  double most_hops = 0;

  /// The time; nothing if start-ups or transmission are unknown.
  std::optional<double> us(const CostModel& model, Bytes block_bytes) const;
  /// Its parts; nothing without a time.
  std::optional<ModelTime> parts(const CostModel& model, Bytes block_bytes) const;
  /// Whether that is a lower bound: contention, hops or what a bus carries are unknown.
  bool at_least() const {
    return contention == Contention::unknown || hops == CountedBy::unknown ||
           injected == CountedBy::unknown;
  }
  bool has_counted() const;
  /// What rankings compare: the time with most_hops if the hops are unknown.
  std::optional<double> ranked_us(const CostModel& model, Bytes block_bytes) const;
};
inline constexpr const char* no_counts =
    "its source gives no formula, and a dry run would be too long";

/// The counts of one call, contention and hops included: by formula, or by a dry run of at most
/// 2^17 messages. All commands take them from here.
/// \param block_bytes  has an effect if blocks differ in size
/// \param bus  whether to count what a node's bus carries: no formula gives it for all ports
Weighed weigh(const Collective& collective, const Topology& topology, Bytes block_bytes = 1024,
              bool bus = false);

/// weigh() on one network, once for each collective. All calls of one operation have the same
/// arguments.
class Weights {
 public:
  Weights(const Topology& topology, bool bus) : topology_(topology), bus_(bus) {}
  const Weighed& operator()(const Collective& collective, Bytes block_bytes = 1024);
  const Topology& topology() const { return topology_; }

 private:
  const Topology& topology_;
  bool bus_;
  std::map<std::string, Weighed, std::less<>> known_;
};

}  // namespace wormcube
