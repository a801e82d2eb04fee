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
#include <tuple>
#include <vector>

namespace wormcube {

/// How the contention of a prediction is known.
enum class Contention : std::uint8_t {
  none,     ///< no two messages share a link: the source claims it, and checks test the claim
  formula,  ///< predicted by the algorithm
  counted,  ///< counted in a dry run, if there is no closed form and the network is small
  unknown,  ///< unknown: the time is a lower limit
};
std::string_view to_string(Contention contention);

/// count(schedule, bytes of its blocks) for a dry run with the smallest blocks; nothing if that
/// would have more than 2^17 messages, or if the program refuses.
std::optional<double> counted(const Collective& collective, const Topology& topology,
                              double startups,
                              const std::function<double(const Schedule&, Bytes)>& count);

struct Weighed {
  /// The algorithm's prediction, with link_blocks filled in unless they are unknown.
  Prediction prediction;
  Contention contention = Contention::unknown;
};
/// The cost that the model and `auto` assume for an algorithm. Takes a dry run if contention has to
/// be counted, for at most 2^17 messages.
Weighed weigh(const Collective& collective, const Topology& topology);

/// weigh() on one network, once for each collective. All calls of one operation have the same
/// arguments.
class Weights {
 public:
  explicit Weights(const Topology& topology) : topology_(topology) {}
  const Weighed& operator()(const Collective& collective);
  const Topology& topology() const { return topology_; }

 private:
  const Topology& topology_;
  std::map<std::string, Weighed, std::less<>> known_;
};

/// The order of all rankings, the cheapest first: those with a known time, by time; then those with
/// unknown contention, by their lower limit; then those without a time.
using Standing = std::tuple<bool, bool, double>;
Standing standing(const std::optional<double>& us, Contention contention);

/// An algorithm with its cheapest options, and its cost.
struct Priced {
  Collective collective;
  Prediction prediction;
  Contention contention = Contention::unknown;
  std::optional<double> us;  ///< nothing if there is no prediction, or `auto` does not need it
};
/// The algorithms that this network admits and that need no more than these ports, by standing() of
/// predicted_us of weigh()'s result; for options that are choices, the cheapest combination;
/// options that depend on the size are set. Algorithms by which nodes may end with different bits
/// are left out (brackets_differ, an operator that is not exact). Among equal ones those made for
/// these ports come first, then the first by name. The commands `best`, `list` and `auto` all rank
/// by this function.
std::vector<Priced> ranking(Operation operation, Weights& weights, const CostModel& model,
                            Bytes block_bytes, Ports ports, const Arguments& arguments = {});
/// The same for one call.
std::vector<Priced> ranking(Operation operation, const Topology& topology, const CostModel& model,
                            Bytes block_bytes, Ports ports, const Arguments& arguments = {});

}  // namespace wormcube
