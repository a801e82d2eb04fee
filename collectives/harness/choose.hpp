// What an algorithm takes on a network, contention included: by its formulas, or counted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/registry.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
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

/// count(schedule, bytes of its blocks) of a dry run with the smallest blocks; nothing if it would be of more than 2^17
/// messages, or the program refuses.
std::optional<double> counted(const Collective& collective, const Topology& topology,
                              double startups,
                              const std::function<double(const Schedule&, Bytes)>& count);

struct Weighed {
  /// The algorithm's, with contended_blocks filled in unless they are unknown.
  Prediction prediction;
  Contention contention = Contention::unknown;
};
/// What the model, and `auto`, take an algorithm for. Costs a dry run where contention has to be
/// counted, of at most 2^17 messages.
Weighed weigh(const Collective& collective, const Topology& topology);

/// An algorithm with its cheapest options, and what it costs.
struct Priced {
  Collective collective;
  Prediction prediction;
  Contention contention = Contention::unknown;
  std::optional<double> us;  ///< nothing where a formula is missing, or `auto` does not ask for it
};
/// Those admitted that need no more than these ports, the cheapest first, by predicted_us of what
/// weigh() says; of options that are choices, the cheapest combination; those that the size decides
/// are settled. Left out are those by which nodes may end with different bits (brackets_differ, an operator that is
/// not exact). Of equals those made for these ports come first, then the first by name; last those
/// whose contention is unknown (a time without it is too short to compare), then those without
/// formulas.
std::vector<Priced> ranking(Operation operation, const Topology& topology, const CostModel& model,
                            Bytes block_bytes, Ports ports, const Arguments& arguments = {});

}  // namespace wormcube
