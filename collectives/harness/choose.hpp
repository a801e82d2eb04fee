// What an algorithm takes on a network, contention included: by its formulas, or counted.
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

/// How it is known what a prediction's messages take on links that they share.
enum class Contention : std::uint8_t {
  none,     ///< no two share one: the source claims it, and checks hold it to that
  formula,  ///< the source's
  counted,  ///< in a dry run, where there is no formula and the network is small
  unknown,  ///< neither: the time is the least that it can be
};
std::string_view to_string(Contention contention);

/// count(schedule, bytes of its blocks) of a dry run with the smallest blocks; nothing if it would
/// be of more than 2^17 messages, or the program refuses.
std::optional<double> counted(const Collective& collective, const Topology& topology,
                              double startups,
                              const std::function<double(const Schedule&, Bytes)>& count);

struct Weighed {
  /// The algorithm's, with link_blocks filled in unless they are unknown.
  Prediction prediction;
  Contention contention = Contention::unknown;
};
/// What the model, and `auto`, take an algorithm for. Costs a dry run where contention has to be
/// counted, of at most 2^17 messages.
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

/// The order of all rankings, the least first: those whose time is known, by time; then those of
/// unknown contention, by the least that they can take; then those without a time.
using Standing = std::tuple<bool, bool, double>;
Standing standing(const std::optional<double>& us, Contention contention);

/// An algorithm with its cheapest options, and what it costs.
struct Priced {
  Collective collective;
  Prediction prediction;
  Contention contention = Contention::unknown;
  std::optional<double> us;  ///< nothing where a formula is missing, or `auto` does not ask for it
};
/// The algorithms that this network admits and that need no more than these ports, by standing() of
/// predicted_us of what weigh() says; of options that are choices, the cheapest combination; those
/// that the size decides are settled. Left out are those by which nodes may end with different bits
/// (brackets_differ, an operator that is not exact). Of equals those made for these ports come
/// first, then the first by name. The commands `best`, `list` and `auto` all rank by this function.
std::vector<Priced> ranking(Operation operation, Weights& weights, const CostModel& model,
                            Bytes block_bytes, Ports ports, const Arguments& arguments = {});
/// The same for one call.
std::vector<Priced> ranking(Operation operation, const Topology& topology, const CostModel& model,
                            Bytes block_bytes, Ports ports, const Arguments& arguments = {});

}  // namespace wormcube
