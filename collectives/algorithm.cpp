// Whether an algorithm runs somewhere, and why not.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/algorithm.hpp"

#include <fmt/core.h>

namespace wormcube {

void require_network(const Algorithm& algorithm, const Topology& topology) {
  for (const Need& need : algorithm.needs) {
    if (const auto found = need.complaint(topology)) {
      throw UsageError(fmt::format("{}: {}; {}{}{}", algorithm.name, need.text, *found,
                                   algorithm.instead.empty() ? "" : "; ", algorithm.instead));
    }
  }
}

void require(const Algorithm& algorithm, const Setting& setting) {
  require_arguments(algorithm.operation, setting.topology.nodes(), setting.arguments);
  require_network(algorithm, setting.topology);
  if (algorithm.needs_commutative && !setting.arguments.reduction.commutative) {
    throw UsageError(fmt::format("{}: needs a commutative operator; {} is not; {}", algorithm.name,
                                 setting.arguments.reduction.name, algorithm.instead));
  }
  if (algorithm.require != nullptr) algorithm.require(setting);
}

void Collective::require(const Topology& topology) const {
  wormcube::require(*algorithm, setting(topology));
}

Prediction Collective::predict(const Topology& topology) const {
  Prediction prediction = algorithm->predict(setting(topology));
  if (!operation()->reduces) prediction.combined_blocks = 0;
  return prediction;
}

std::string Collective::text() const {
  const std::string chosen = options.text();
  return fmt::format("{}{}{}", algorithm->name, chosen.empty() ? "" : ":", chosen);
}

std::optional<std::string> refusal(const Collective& collective, const Topology& topology) {
  try {
    collective.require(topology);
  } catch (const UsageError& error) {
    return error.what();
  }
  return std::nullopt;
}

}  // namespace wormcube
