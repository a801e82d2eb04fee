// The calls of the registry whose values can be named.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/naming.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/collectives/built_in.hpp"

#include <functional>
#include <string>
#include <vector>

namespace wormcube {

inline Arguments usual_arguments(Operation operation, Rank nodes) {
  Arguments arguments;
  if (operation->reduces) arguments.reduction = find_reduction("sum", "int32");
  if (operation->has_sources && nodes > 2) arguments.sources = {0, 2};
  if (operation->rooted) arguments.root = nodes > 1 ? 1 : 0;
  return arguments;
}

/// Calls it for every algorithm that applies to the network and can be named.
/// \return  the others: "alltoallv two-phase on ring:4: why"
inline std::vector<std::string> each_named_call(
    const std::string& network,
    const std::function<void(const Algorithm&, const NamedSchedule&)>& use) {
  const Topology topology = Topology::parse(network);
  std::vector<std::string> unnamed;
  for (const Algorithm* algorithm : cases::built_in()) {
    const Operation operation = algorithm->operation;
    const Collective collective(*algorithm, usual_arguments(operation, topology.nodes()));
    if (refusal(collective, topology)) continue;
    std::optional<NamedSchedule> named;
    try {
      named = named_call(collective, topology, 64, false);
    } catch (const UsageError& error) {
      unnamed.push_back(std::string(operation->name) + " " + std::string(algorithm->name) + " on " +
                        network + ": " + error.what());
      continue;
    }
    use(*algorithm, *named);
  }
  return unnamed;
}

}  // namespace wormcube
