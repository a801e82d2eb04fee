// Figures that decide between algorithms.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/choose/figures.hpp"

#include <vector>

#include <fmt/core.h>

namespace wormcube {

std::string CallFigures::key(const Collective& collective, Bytes block_bytes, bool all_port) {
  return fmt::format("{} {} {} {} {}", collective.operation()->name, collective.text(), block_bytes,
                     all_port, arguments_text(collective.operation(), collective.arguments));
}

const CallFigures::Answer& CallFigures::operator()(const Collective& collective, Bytes block_bytes,
                                                   bool all_port) {
  std::string of_call = key(collective, block_bytes, all_port);
  if (const auto known = answers_.find(of_call); known != answers_.end()) return known->second;
  Answer answer = figure_of(collective, block_bytes, all_port);
  return answers_.emplace(std::move(of_call), std::move(answer)).first->second;
}

CallFigures::Least CallFigures::least(const Choice& choice) {
  const auto ranked = ranking(choice);
  if (ranked.empty()) return {cheapest(choice), {}};  // throws
  return least(ranked, choice.block_bytes, choice.ports);
}

CallFigures::Least CallFigures::least(std::span<const Priced> ranked, Bytes block_bytes,
                                      Ports ports) {
  Least least{ranked.front().collective, {}};
  require_affordable(fmt::format("auto of {} on {} by replay", least.collective.operation()->name,
                                 topology_.name()),
                     messages_of(ranked, topology_.nodes()));
  std::vector<Priced> candidates(ranked.begin(), ranked.end());
  std::erase_if(candidates, [](const Priced& priced) {
    return !is_chosen_by_auto(*priced.collective.algorithm);
  });
  compute(candidates, block_bytes, ports, 1);
  for (const Priced& priced : candidates) {
    const bool all_port = takes_all_ports(*priced.collective.algorithm, ports);
    const Answer& answer = (*this)(priced.collective, block_bytes, all_port);
    if (answer.figure && (!least.figure || *answer.figure < *least.figure)) {
      least = {priced.collective, answer.figure};
    }
  }
  return least;
}

double messages_of(std::span<const Priced> ranked, Rank nodes) {
  double messages = 0;
  for (const Priced& priced : ranked)
    messages += priced.weighed.prediction.startups.value_or(0) * nodes;
  return messages;
}

}  // namespace wormcube
