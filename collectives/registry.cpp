// The registry: the operations' tables as one, and choosing from it.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/registry.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <fmt/core.h>

namespace wormcube {

namespace {

constexpr std::array<std::pair<Operation, std::string_view>, 5> operation_names{{
    {Operation::broadcast, "broadcast"},
    {Operation::allgather, "allgather"},
    {Operation::alltoall, "alltoall"},
    {Operation::alltoallv, "alltoallv"},
    {Operation::barrier, "barrier"},
}};

bool complete(const Prediction& prediction) {
  return prediction.startups && prediction.transmission_blocks && prediction.rearranged_blocks;
}

}  // namespace

std::string_view to_string(Operation operation) {
  return std::ranges::find(operation_names, operation,
                           &std::pair<Operation, std::string_view>::first)
      ->second;
}

std::string_view to_string(Ports ports) { return ports == Ports::one ? "one" : "all"; }

Operation parse_operation(std::string_view text) {
  std::string known;
  for (const auto& [operation, name] : operation_names) {
    if (name == text) return operation;
    known.append(" ").append(name);
  }
  throw UsageError(fmt::format("unknown operation '{}'; known are:{}", text, known));
}

std::span<const Algorithm> registry() {
  static const std::vector<Algorithm> all = [] {
    std::vector<Algorithm> joined;
    for (const auto table : {broadcast_algorithms(), allgather_algorithms(), alltoall_algorithms(),
                             alltoallv_algorithms(), barrier_algorithms()}) {
      joined.insert(joined.end(), table.begin(), table.end());
    }
    return joined;
  }();
  return all;
}

const Algorithm& find_algorithm(Operation operation, std::string_view name) {
  std::string known;
  for (const Algorithm& algorithm : registry()) {
    if (algorithm.operation != operation) continue;
    if (algorithm.name == name) return algorithm;
    known.append(" ").append(algorithm.name);
  }
  throw UsageError(
      fmt::format("{} has no algorithm '{}'; known are:{}", to_string(operation), name, known));
}

std::vector<const Algorithm*> admitted(Operation operation, const Topology& topology,
                                       const Parameters& parameters) {
  std::vector<const Algorithm*> admitted;
  for (const Algorithm& algorithm : registry()) {
    if (algorithm.operation == operation && !refusal(algorithm, topology, parameters)) {
      admitted.push_back(&algorithm);
    }
  }
  return admitted;
}

std::optional<std::string> refusal(const Algorithm& algorithm, const Topology& topology,
                                   const Parameters& parameters) {
  try {
    algorithm.require(topology, parameters);
  } catch (const UsageError& error) {
    return error.what();
  }
  return std::nullopt;
}

const Algorithm& cheapest(Operation operation, const Topology& topology,
                          const Parameters& parameters, Ports ports) {
  auto candidates = admitted(operation, topology, parameters);
  std::erase_if(candidates, [&](const Algorithm* algorithm) {
    return algorithm->any_order || (ports == Ports::one && algorithm->ports == Ports::all);
  });
  if (candidates.empty()) {
    throw UsageError(
        fmt::format("{} has no {}-port algorithm for {}; wormcube list shows what each needs",
                    to_string(operation), to_string(ports), topology.name()));
  }
  return **std::ranges::min_element(candidates, {}, [&](const Algorithm* algorithm) {
    const Prediction prediction = algorithm->predict(topology, parameters);
    const bool known = complete(prediction);
    return std::tuple(!known, known ? predicted_us(prediction, parameters) : 0);
  });
}

double predicted_us(const Prediction& prediction, const Parameters& parameters) {
  const auto transmission =
      prediction.contended_blocks ? prediction.contended_blocks : prediction.transmission_blocks;
  const auto bytes = static_cast<double>(parameters.block_bytes);
  return parameters.startup_us * prediction.startups.value_or(0) +
         parameters.transfer_us * bytes * transmission.value_or(0) +
         parameters.rearrange_us * bytes * prediction.rearranged_blocks.value_or(0);
}

}  // namespace wormcube
