// Ranks algorithms: contention by dry runs where no closed form gives it.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/choose.hpp"

#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/check.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

namespace {

std::optional<double> counted_contention(const Collective& collective, const Topology& topology,
                                         double startups) {
  return counted(collective, topology, startups, [&](const Schedule& schedule, Bytes block_bytes) {
    const ScheduleReport report = check(schedule, Routing(topology), true);
    return static_cast<double>(report.contended) / static_cast<double>(block_bytes);
  });
}

/// Every combination of the algorithm's choices, defaults first; its numbers keep their defaults,
/// but for a few values of `radix` where the algorithm settles no others.
std::vector<Options> combinations(const Algorithm& algorithm) {
  std::vector<Options> all{Options(algorithm.options)};
  for (const Option& option : algorithm.options) {
    const std::string preset = option.text(option.preset);
    const std::vector<Options> of_the_others = all;
    std::vector<std::string> values(option.choices.begin(), option.choices.end());
    if (option.name == "radix" && algorithm.settle == nullptr) values = {"3", "4", "8", "16"};
    for (const std::string& value : values) {
      if (value == preset) continue;
      for (const Options& others : of_the_others) {
        all.push_back(others);
        all.back().set(option.name, value);
      }
    }
  }
  return all;
}

/// Whether nodes may end with different bits of results that should be equal.
bool rounds_differently(const Collective& collective) {
  return combining(collective) == Combining::brackets_differ &&
         !collective.arguments.reduction.exact;
}

}  // namespace

std::string_view to_string(Contention contention) {
  switch (contention) {
    case Contention::none:
      return "none";
    case Contention::formula:
      return "formula";
    case Contention::counted:
      return "counted";
    case Contention::unknown:
      return "unknown";
  }
  return "?";
}

std::optional<double> counted(const Collective& collective, const Topology& topology,
                              double startups,
                              const std::function<double(const Schedule&, Bytes)>& count) {
  constexpr double most_messages = 1 << 17;
  if (startups * topology.nodes() > most_messages) return std::nullopt;
  try {
    const Bytes block_bytes = unit_block_bytes(collective, topology);
    const Contract contract =
        contract_of(collective, topology.nodes(), block_bytes, 1, Pattern::tags);
    topology.require_routable();
    return count(
        record(topology, collective_program(collective, contract, nullptr), collective.name()),
        block_bytes);
  } catch (const TimeLimit&) {
    throw;
  } catch (const std::exception&) {
    return std::nullopt;  // the caller gets the error when it runs the algorithm
  }
}

Weighed weigh(const Collective& collective, const Topology& topology) {
  Weighed result{collective.predict(topology)};
  Prediction& prediction = result.prediction;
  if (prediction.link_blocks) {
    result.contention = Contention::formula;
    return result;
  }
  if (!prediction.startups || !prediction.transmission_blocks) return result;
  const bool empty = prediction.transmission_blocks == 0;  // a barrier's, or a single node's
  if (collective.algorithm->contention_free || empty) {
    prediction.link_blocks = prediction.transmission_blocks;
    result.contention = Contention::none;
  } else if (const auto counted = counted_contention(collective, topology, *prediction.startups)) {
    prediction.link_blocks = counted;
    result.contention = Contention::counted;
  }
  return result;
}

const Weighed& Weights::operator()(const Collective& collective) {
  const auto [entry, is_new] =
      known_.try_emplace(fmt::format("{} {}", collective.operation()->name, collective.text()));
  if (is_new) entry->second = weigh(collective, topology_);
  return entry->second;
}

Standing standing(const std::optional<double>& us, Contention contention) {
  return {!us, contention == Contention::unknown, us.value_or(0)};
}

std::vector<Priced> ranking(Operation operation, const Topology& topology, const CostModel& model,
                            Bytes block_bytes, Ports ports, const Arguments& arguments) {
  Weights weights(topology);
  return ranking(operation, weights, model, block_bytes, ports, arguments);
}

std::vector<Priced> ranking(Operation operation, Weights& weights, const CostModel& model,
                            Bytes block_bytes, Ports ports, const Arguments& arguments) {
  const Topology& topology = weights.topology();
  using Cost = std::pair<Standing, bool>;  // and whether it was made for other ports
  std::vector<std::pair<Cost, Priced>> ranked;
  for (Collective& collective : admitted(operation, topology, arguments)) {
    const Algorithm& algorithm = *collective.algorithm;
    if (algorithm.selection == Selection::any_order ||
        (ports == Ports::one && algorithm.ports == Ports::all))
      continue;
    std::optional<std::pair<Cost, Priced>> least;
    for (Options& options : combinations(algorithm)) {
      collective.options = std::move(options);
      if (refusal(collective, topology) || rounds_differently(collective)) continue;
      collective.settle(topology, model, block_bytes);
      const auto [prediction, contention] =
          is_chosen_by_auto(algorithm) ? weights(collective) : Weighed{};
      std::optional<double> us;
      if (prediction.complete()) us = predicted_us(prediction, model, block_bytes);
      const Cost cost{standing(us, contention), algorithm.ports != ports};
      if (!least || cost < least->first) {
        least = {cost, Priced{collective, prediction, contention, us}};
      }
    }
    if (least) ranked.push_back(std::move(*least));
  }
  std::ranges::stable_sort(ranked, {}, [](const auto& entry) { return entry.first; });
  std::vector<Priced> all;
  for (auto& [cost, priced] : ranked) all.push_back(std::move(priced));
  return all;
}

Collective cheapest(Operation operation, const Topology& topology, const CostModel& model,
                    Bytes block_bytes, Ports ports, const Arguments& arguments) {
  const auto ranked = ranking(operation, topology, model, block_bytes, ports, arguments);
  if (ranked.empty()) {
    throw UsageError(
        fmt::format("{} has no {}-port algorithm for {}; `wormcube list` shows what each needs",
                    operation->name, to_string(ports), topology.name()));
  }
  return ranked.front().collective;
}

}  // namespace wormcube
