// The algorithms of an application that calls several collectives.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/common/algorithms.hpp"

#include "wormcube/apps/common/exchange.hpp"
#include "wormcube/collectives/choose/ranking.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

std::string names(const std::vector<Operation>& operations) {
  std::string text;
  for (const Operation operation : operations) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", operation->name);
  }
  return text;
}

bool has_algorithm(Operation operation, std::string_view name) {
  return std::ranges::any_of(registry(), [&](const Algorithm* algorithm) {
    return algorithm->operation == operation && algorithm->name == name;
  });
}

}  // namespace

Algorithms::Algorithms(std::string_view text, std::vector<Operation> operations,
                       const CostModel& model, Ports ports, AutoChooser chooser)
    : operations_(std::move(operations)),
      model_(model),
      ports_(ports),
      chooser_(std::move(chooser)) {
  for (std::string_view rest = text;;) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    add(rest.substr(0, end));
    if (end == rest.size()) return;
    rest.remove_prefix(end + 1);
  }
}

void Algorithms::add(std::string_view word) {
  if (word == "auto") return;
  const std::size_t equals = word.find('='), colon = std::min(word.find(':'), word.size());
  if (equals < colon) {
    const std::string_view name = word.substr(0, equals);
    const auto operation =
        std::ranges::find(operations_, name, [](Operation known) { return known->name; });
    if (operation == operations_.end()) {
      throw UsageError(fmt::format("--algorithm {}: this command does not call '{}'; available: {}",
                                   word, name, names(operations_)));
    }
    use(parse_collective(*operation, word.substr(equals + 1)));
    return;
  }
  bool found = false;
  for (const Operation operation : operations_) {
    if (!has_algorithm(operation, word.substr(0, colon))) continue;
    use(parse_collective(operation, word));
    found = true;
  }
  if (!found) {
    throw UsageError(fmt::format(
        "unknown algorithm '{}' for {}; `wormcube list OPERATION` lists the available ones",
        word.substr(0, colon), names(operations_)));
  }
}

bool Algorithms::all_port() const {
  return std::ranges::any_of(named_, [](const Collective& collective) {
    return collective.algorithm->ports == Ports::all;
  });
}

void Algorithms::use(Collective collective) {
  std::erase_if(
      named_, [&](const Collective& other) { return other.operation() == collective.operation(); });
  named_.push_back(std::move(collective));
}

Collective Algorithms::choose(Operation operation, const Topology& topology, Bytes block_bytes,
                              const Arguments& arguments,
                              const std::function<bool(const Collective&)>& suits) const {
  const auto named = std::ranges::find(named_, operation, &Collective::operation);
  if (named == named_.end()) {
    if (operation->sizes != Sizes::equal) {
      return cheapest_uneven(operation, topology, block_bytes, arguments);
    }
    const Choice choice{operation, topology, block_bytes, ports_, model_, arguments};
    Collective chosen = chooser_ ? chooser_(choice) : cheapest(choice);
    if (!suits || suits(chosen)) return chosen;
    for (Priced& other : ranking(choice)) {
      if (suits(other.collective)) return std::move(other.collective);
    }
    return chosen;
  }
  Collective collective = *named;
  collective.arguments = arguments;
  require_no_sizes(collective);
  collective.require(topology);
  return collective;
}

Collective Algorithms::cheapest_uneven(Operation operation, const Topology& topology,
                                       Bytes block_bytes, const Arguments& arguments) const {
  std::string_view even_name = operation->name;  // allgatherv, alltoallv
  even_name.remove_suffix(1);
  const Operation even = parse_operation(even_name);
  const std::string taken =
      chooser_
          ? std::string(chooser_({even, topology, block_bytes, ports_, model_, arguments}).name())
          : "";
  double least = std::numeric_limits<double>::infinity();
  Collective best;
  for (Collective& collective : admitted(operation, topology, arguments)) {
    if (collective.algorithm->ports == Ports::all && ports_ == Ports::one) continue;
    if (collective.name() == taken) return collective;
    if (!has_algorithm(even, collective.name())) continue;
    const Collective namesake(find_algorithm(even, collective.name()), arguments);
    if (!is_chosen_by_auto(*namesake.algorithm) || refusal(namesake, topology)) continue;
    const Weighed weighed = weigh(namesake, topology, block_bytes, model_.bus_us.has_value());
    const double time = weighed.prediction.complete()
                            ? weighed.ranked_us(model_, block_bytes).value_or(0)
                            : std::numeric_limits<double>::max();
    if (time >= least) continue;
    least = time;
    best = std::move(collective);
  }
  if (best.algorithm == nullptr) {
    throw UsageError(
        fmt::format("{} has no {}-port algorithm for {}; wormcube list shows what "
                    "each needs",
                    operation->name, to_string(ports_), topology.name()));
  }
  return best;
}

}  // namespace wormcube::apps
