// Replays that decide between algorithms whose modelled times are close.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/choose/near_winners.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace wormcube {

namespace {

constexpr double band = 1.5;

/// Whether messages never wait for one another, and all counts are known.
bool takes_closed_form(const Priced& priced) {
  return priced.weighed.contention == Contention::none && !priced.weighed.at_least();
}

/// Those with at most this modelled time, and the first two.
std::vector<std::size_t> within(std::span<const Priced> ranked, double us) {
  std::vector<std::size_t> near;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    if (ranked[i].us && (i < 2 || *ranked[i].us <= us)) near.push_back(i);
  }
  return near;
}

/// Bytes that a replay moves at a time: a packet, or a message, whose flits follow each other
/// unless its port is slower than the links.
double bytes_at_a_time(const MachineModel& model) {
  constexpr double flits_of_slow_port = 64;
  const auto flit = static_cast<double>(model.flit_bytes);
  if (model.forwarding == Forwarding::packets) return flit * static_cast<double>(model.packet);
  return model.port_flit() > model.flit ? flit * flits_of_slow_port
                                        : std::numeric_limits<double>::infinity();
}

/// Messages, the blocks in them and what they are divided into: what dry runs and replays take
/// their time for. An upper bound.
double work_of(std::span<const Priced> calls, Rank nodes, double parts_of_block) {
  double blocks = 0;
  for (const Priced& call : calls) {
    blocks += call.weighed.prediction.transmission_blocks.value_or(0) * nodes;
  }
  return messages_of(calls, nodes) + blocks * (1 + parts_of_block);
}

}  // namespace

std::optional<MachineModel> machine_of(const CostModel& cost) {
  bool whole = true;
  const auto ticks = [&](double us) {
    constexpr double ps_in_us = 1e6, rounding = 1e-9;
    const double ps = us * ps_in_us, rounded = std::round(ps);
    whole = whole && std::abs(ps - rounded) <= rounding * std::max(1.0, rounded);
    return static_cast<Ticks>(rounded);
  };
  MachineModel model;
  model.flit_bytes = static_cast<std::int64_t>(cost.flit_bytes);
  model.startup = ticks(cost.startup_us);
  model.flit = ticks(cost.link_byte_us() * cost.flit_bytes);
  if (cost.link_us) model.port = ticks(cost.transfer_us * cost.flit_bytes);
  model.hop = ticks(cost.link_hop_us());
  model.rearrange = {ticks(cost.rearrange_us), 1};
  model.combine = {ticks(cost.combine_us), 1};
  if (!whole) return std::nullopt;
  try {
    model.require_valid();
  } catch (const UsageError&) {
    return std::nullopt;
  }
  return model;
}

NearWinners::NearWinners(const Topology& topology, const MachineModel& model, int virtual_channels)
    : times_(topology, model, virtual_channels),
      nodes_(topology.nodes()),
      bytes_at_a_time_(bytes_at_a_time(model)) {}

std::vector<CallFigures::Answer> NearWinners::operator()(std::span<const Priced> ranked,
                                                         Bytes block_bytes, Ports ports) {
  constexpr double most_work = 1 << 17;
  constexpr Rank most_nodes = 256;
  const double parts_of_block = static_cast<double>(block_bytes) / bytes_at_a_time_;
  std::vector<CallFigures::Answer> answers(ranked.size());
  const auto because = [&](const char* reason) {
    for (CallFigures::Answer& answer : answers) {
      if (!answer.figure && answer.reason.empty()) answer.reason = reason;
    }
    return answers;
  };
  if (ranked.empty() || !ranked.front().us || nodes_ > most_nodes) {
    return because("the modelled times decide");
  }
  const auto replay_within = [&](double us) {
    const std::vector<std::size_t> near = within(ranked, us);
    std::vector<Priced> calls;
    for (const std::size_t i : near) calls.push_back(ranked[i]);
    if (std::ranges::all_of(calls, takes_closed_form) ||
        work_of(calls, nodes_, parts_of_block) > most_work) {
      return false;
    }
    times_.compute(calls, block_bytes, ports, CallFigures::all);
    for (const std::size_t i : near) {
      const Collective& collective = ranked[i].collective;
      answers[i] = times_(collective, block_bytes, takes_all_ports(*collective.algorithm, ports));
    }
    return true;
  };
  const double lowest = *ranked.front().us;
  if (!replay_within(band * lowest)) return because("the modelled times decide");
  const CallFigures::Answer& best = answers[winner(answers)];
  if (best.figure) replay_within(band * std::max(lowest, microseconds_of(*best.figure)));
  return because("its modelled time is not near the lowest");
}

std::size_t NearWinners::winner(std::span<const CallFigures::Answer> replayed) {
  const auto time = [](const CallFigures::Answer& answer) {
    return answer.figure.value_or(no_tick);
  };
  return static_cast<std::size_t>(std::ranges::min_element(replayed, {}, time) - replayed.begin());
}

Collective cheapest_or_near(const Choice& choice, const std::optional<MachineModel>& machine,
                            int virtual_channels) {
  const auto ranked = ranking(choice);
  const auto model = machine ? machine : machine_of(choice.model);
  if (ranked.empty() || !model) return cheapest(choice);
  NearWinners near(choice.topology, *model, virtual_channels);
  const auto replayed = near(ranked, choice.block_bytes, choice.ports);
  return ranked[NearWinners::winner(replayed)].collective;
}

}  // namespace wormcube
