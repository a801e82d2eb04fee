// The registry: sorting, finding, choosing.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/registry.hpp"

#include "wormcube/runtime/topology/words.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/core.h>

namespace wormcube {

namespace {

struct Registry {
  std::vector<Operation> operations{all_operations.begin(), all_operations.end()};
  std::vector<const Algorithm*> algorithms;
  std::map<const Algorithm*, std::string> origins;

  Registry() {
    const auto built_in = detail::built_in_algorithms();
    algorithms.assign(built_in.begin(), built_in.end());
    sort();
  }
  void sort() {
    std::ranges::sort(algorithms, {}, [this](const Algorithm* algorithm) {
      return std::pair(std::ranges::find(operations, algorithm->operation), algorithm->name);
    });
  }
};

Registry& state() {
  static Registry registry;
  return registry;
}

/// Every combination of the algorithm's choices, presets first; its numbers stay at their presets.
std::vector<Options> combinations(const Algorithm& algorithm) {
  std::vector<Options> all{Options(algorithm.options)};
  for (const Option& option : algorithm.options) {
    const std::string preset = option.text(option.preset);
    const std::size_t of_the_others = all.size();
    for (const std::string_view choice : option.choices) {
      if (choice == preset) continue;
      for (std::size_t i = 0; i < of_the_others; ++i) {
        Options changed = all[i];
        changed.set(option.name, choice);
        all.push_back(std::move(changed));
      }
    }
  }
  return all;
}

}  // namespace

std::span<const Operation> registered_operations() { return state().operations; }

void add_operation(const OperationRow& row, std::string_view origin) {
  if (row.name.empty() || row.gives == nullptr || row.ends_with == nullptr ||
      row.result == nullptr || (row.data == nullptr) != (row.bus_factor == nullptr)) {
    throw UsageError(
        fmt::format("{}: operation '{}' needs a name, gives, ends_with and result; and data and "
                    "bus_factor, or neither",
                    origin, row.name));
  }
  if (std::ranges::find(state().operations, Operation(row)) != state().operations.end()) {
    throw UsageError(fmt::format("{}: there is an operation '{}' already", origin, row.name));
  }
  state().operations.emplace_back(row);
}

Operation parse_operation(std::string_view text) {
  std::vector<std::string_view> known;
  for (const Operation operation : registered_operations()) {
    if (operation->name == text) return operation;
    known.push_back(operation->name);
  }
  throw UsageError(fmt::format("unknown operation '{}'{}; known are:{}", text,
                               did_you_mean(text, known), listed(known)));
}

std::span<const Algorithm* const> registry() { return state().algorithms; }

void add_algorithm(const Algorithm& algorithm, std::string origin) {
  const auto operations = registered_operations();
  if (std::ranges::find(operations, algorithm.operation) == operations.end()) {
    throw UsageError(fmt::format("{}: {} is for an operation '{}', which nobody has added", origin,
                                 algorithm.name, algorithm.operation->name));
  }
  for (const Algorithm* other : registry()) {
    if (other->operation == algorithm.operation && other->name == algorithm.name) {
      throw UsageError(fmt::format("{}: {} has an algorithm '{}' already", origin,
                                   algorithm.operation->name, algorithm.name));
    }
  }
  state().algorithms.push_back(&algorithm);
  state().origins.emplace(&algorithm, std::move(origin));
  state().sort();
}

std::string_view origin(const Algorithm& algorithm) {
  const auto found = state().origins.find(&algorithm);
  return found == state().origins.end() ? std::string_view() : found->second;
}

const Algorithm& find_algorithm(Operation operation, std::string_view name) {
  std::vector<std::string_view> known;
  for (const Algorithm* algorithm : registry()) {
    if (algorithm->operation != operation) continue;
    if (algorithm->name == name) return *algorithm;
    known.push_back(algorithm->name);
  }
  throw UsageError(fmt::format("{} has no algorithm '{}'{}; known are:{}", operation->name, name,
                               did_you_mean(name, known), listed(known)));
}

Collective parse_collective(Operation operation, std::string_view text, Arguments arguments) {
  const auto next = [&text] {
    const std::size_t end = std::min(text.find(':'), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
  };
  Collective collective(find_algorithm(operation, next()), std::move(arguments));
  while (!text.empty()) {
    const std::string_view setting = next();
    const std::size_t equals = setting.find('=');
    try {
      if (equals == std::string_view::npos) {
        throw UsageError(fmt::format("'{}' is no option=value", setting));
      }
      collective.options.set(setting.substr(0, equals), setting.substr(equals + 1));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}", collective.name(), error.what()));
    }
  }
  return collective;
}

std::vector<Collective> admitted(Operation operation, const Topology& topology,
                                 const Arguments& arguments) {
  std::vector<Collective> admitted;
  for (const Algorithm* algorithm : registry()) {
    if (algorithm->operation != operation) continue;
    Collective collective(*algorithm, arguments);
    if (!refusal(collective, topology)) admitted.push_back(std::move(collective));
  }
  return admitted;
}

bool is_chosen_by_auto(const Algorithm& algorithm) {
  return algorithm.chosen_by_auto && !algorithm.any_order;
}

std::vector<Priced> ranking(Operation operation, const Topology& topology, const CostModel& model,
                            Bytes block_bytes, Ports ports, const Arguments& arguments) {
  // Complete formulas first, then by time; of equals those made for these ports, then the first.
  using Cost = std::tuple<bool, double, bool>;
  std::vector<std::pair<Cost, Priced>> ranked;
  for (Collective& collective : admitted(operation, topology, arguments)) {
    const Algorithm& algorithm = *collective.algorithm;
    if (algorithm.any_order || (ports == Ports::one && algorithm.ports == Ports::all)) continue;
    std::optional<std::pair<Cost, Priced>> least;
    for (Options& options : combinations(algorithm)) {
      collective.options = std::move(options);
      if (refusal(collective, topology)) continue;
      collective.settle(topology, model, block_bytes);
      Priced priced{collective, {}, {}};
      if (algorithm.chosen_by_auto) priced.prediction = collective.predict(topology);
      if (priced.prediction.complete()) {
        priced.us = predicted_us(priced.prediction, model, block_bytes);
      }
      const Cost cost{!priced.us, priced.us.value_or(0), algorithm.ports != ports};
      if (!least || cost < least->first) least = {cost, std::move(priced)};
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
        fmt::format("{} has no {}-port algorithm for {}; wormcube list shows what each needs",
                    operation->name, to_string(ports), topology.name()));
  }
  return ranked.front().collective;
}

}  // namespace wormcube
