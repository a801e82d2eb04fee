// The cost of direct exchanges with sources.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/k_to_all/registration.hpp"

#include "wormcube/runtime/node/arithmetic.hpp"

#include <vector>

namespace wormcube {

Prediction direct_prediction(const Setting& setting,
                             PatternMessage (*message)(Rank source, Rank other)) {
  constexpr Rank most_nodes = 2048;
  const Rank p = setting.topology.nodes();
  const Prediction prediction{p - 1, p - 1, 0, 0};
  if (p > most_nodes) return prediction;
  PatternSteps steps(setting.topology);
  for (Rank i = 1; i < p; ++i) {
    std::vector<PatternMessage> messages;
    for (const Rank source : sources_of(setting.arguments)) {
      messages.push_back(message(source, mod(source + i, p)));
    }
    steps.add(messages);
  }
  return steps.with_loads(prediction);
}

}  // namespace wormcube
