// Schedules for the tests of replay.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/replay/schedules.hpp"

#include "wormcube/collectives/harness/contract.hpp"

#include <array>
#include <random>

#include <fmt/core.h>

namespace wormcube::test {

namespace {

/// Logs of nodes that take no step yet.
Schedule without_steps(Topology topology) {
  const auto nodes = static_cast<std::size_t>(topology.nodes());
  return {std::move(topology), std::vector<RankLog>(nodes)};
}

void add_message(Schedule& schedule, const Sent& sent, Tag tag) {
  RankLog& from = schedule.ranks[static_cast<std::size_t>(sent.from)];
  from.ops.push_back({.kind = Op::Kind::send,
                      .moves = static_cast<std::uint16_t>(sent.moves.size()),
                      .peer = sent.to,
                      .tag = tag,
                      .first_move = static_cast<std::uint32_t>(from.moves.size()),
                      .bytes = sent.bytes});
  from.moves.insert(from.moves.end(), sent.moves.begin(), sent.moves.end());
  schedule.ranks[static_cast<std::size_t>(sent.to)].ops.push_back({.kind = Op::Kind::receive,
                                                                   .moves = 0,
                                                                   .peer = sent.from,
                                                                   .tag = tag,
                                                                   .first_move = 0,
                                                                   .bytes = sent.bytes});
}

void end_step(Schedule& schedule) {
  for (RankLog& log : schedule.ranks) {
    log.step_ends.push_back(static_cast<std::uint32_t>(log.ops.size()));
  }
}

}  // namespace

Step half_way(Bytes bytes) {
  Step step;
  for (Rank r = 0; r < 4; ++r) step.push_back({r, (r + 2) % 4, bytes, {{0, 2}}});
  return step;
}

Schedule written(const char* topology, const std::vector<Step>& steps,
                 const std::vector<LocalWork>& work) {
  Schedule schedule = without_steps(Topology::parse(topology));
  for (const Step& step : steps) {
    for (const Sent& sent : step) add_message(schedule, sent, 0);
    end_step(schedule);
  }
  for (const LocalWork& local : work) {
    RankLog& log = schedule.ranks[static_cast<std::size_t>(local.node)];
    log.rearranged.add(local.step, local.moved);
    log.combined.add(local.step, local.combined);
  }
  return schedule;
}

Schedule recorded(Operation operation, const Topology& topology, const Collective& collective,
                  Bytes bytes) {
  static_cast<void>(operation);
  return record(
      topology,
      collective_program(collective, contract_of(collective, topology.nodes(), bytes, 1), nullptr));
}

Schedule recorded(Operation operation, const char* topology, const char* algorithm, Bytes bytes) {
  Arguments arguments;
  arguments.permutation = Permutation::transpose;
  if (operation->reduces) arguments.reduction = interval_reduction();
  return recorded(operation, Topology::parse(topology),
                  parse_collective(operation, algorithm, arguments), bytes);
}

MachineModel unit_model() {
  return {.startup = 0,
          .flit_bytes = 1,
          .flit = 1,
          .hop = 1,
          .credit = 1,
          .slots = 4,
          .rearrange = {},
          .combine = {}};
}

void Witness::delivered(const WormLife& worm) {
  const Key key{worm.message.step, worm.message.from, worm.message.index};
  routes[key].assign(worm.route.begin(), worm.route.end());
  granted[key].assign(worm.granted.begin(), worm.granted.end());
  released[key].assign(worm.released.begin(), worm.released.end());
  for (const std::vector<Run>& runs : worm.starts) {
    Starts all;
    for (const Run& run : runs) all.push(run);
    std::vector<Ticks>& list = starts[key].emplace_back();
    for (std::int64_t k = 0; k < worm.flits; ++k) list.push_back(all.at(k));
  }
}

const ReplayedMessage& Outcome::message(std::uint32_t step, Rank from) const {
  for (const ReplayedMessage& message : replay.messages) {
    if (message.step == step && message.from == from) return message;
  }
  throw std::out_of_range(fmt::format("no message of node {} in step {}", from, step));
}

std::vector<Ticks> Outcome::sent() const {
  std::vector<Ticks> list;
  for (const ReplayedMessage& message : replay.messages) list.push_back(message.sent);
  return list;
}

std::vector<Ticks> Outcome::delivered() const {
  std::vector<Ticks> list;
  for (const ReplayedMessage& message : replay.messages) list.push_back(message.delivered);
  return list;
}

Outcome outcome(const char* topology, const std::vector<Step>& steps, const MachineModel& model,
                int virtual_channels, const std::vector<LocalWork>& work) {
  const Schedule schedule = written(topology, steps, work);
  Witness witness;
  Replay result =
      replay(schedule, Routing(schedule.topology, virtual_channels), model, {.observer = &witness});
  return {std::move(result), std::move(witness.starts)};
}

namespace {

/// \param seed  of the case: other numbers are drawn from it than those of its messages
void draw_ports(MachineModel& model, PortsAre ports, std::uint64_t seed) {
  std::mt19937_64 random(seed + 0x9e3779b97f4a7c15U);
  const auto in = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));
  };
  if (ports == PortsAre::fast) return;
  model.port = in(0, 3) == 0 ? 0 : model.flit + in(0, 6);
  model.port_slots = in(0, 2) == 0 ? 0 : in(1, 9);
  if (ports == PortsAre::slow) return;
  model.forwarding = Forwarding::packets;
  model.packet = in(1, 8);
  if (model.all_port && in(0, 1) == 0) model.node = in(1, 2 * static_cast<int>(model.flit) + 2);
}

}  // namespace

RandomCase::RandomCase(std::uint64_t seed, PortsAre ports)
    : schedule{Topology::parse("ring:1"), {}} {
  std::mt19937_64 random(seed);
  const auto in = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));
  };
  constexpr std::array networks{
      "ring:4",      "ring:5",     "ring:8", "torus:4x4", "torus:3x5",     "mesh:3x4", "line:6",
      "hypercube:3", "complete:5", "tree:8", "torus:3x3", "ring:4*line:3", "torus:8x3"};
  schedule = without_steps(
      Topology::parse(networks[static_cast<std::size_t>(in(0, std::ssize(networks) - 1))]));
  virtual_channels = in(0, 5) == 0 ? 1 : 2;
  model = unit_model();
  model.startup = in(0, 2) == 0 ? 0 : in(1, 20);
  model.flit_bytes = in(1, 3);
  model.flit = in(0, 1) == 0 ? 1 : in(2, 7);
  model.hop = in(1, 9);
  model.credit = in(0, 1) == 0 ? 1 : in(2, 6);
  model.slots = in(1, 5);
  model.rearrange = {in(0, 2), 1};
  model.combine = {in(0, 2), in(1, 3)};
  model.all_port = in(0, 2) == 0;
  model.lock_step = in(0, 2) == 0;
  draw_ports(model, ports, seed);
  const int steps = in(1, 4), most_sends = in(1, 3), most_bytes = in(0, 3) == 0 ? 150 : 30;
  const Rank nodes = schedule.topology.nodes();
  for (int step = 0; step < steps; ++step) {
    for (Rank from = 0; from < nodes; ++from) {
      for (Tag tag = 0; tag < most_sends; ++tag) {
        if (in(0, 2) == 0) continue;
        add_message(schedule, {from, in(0, nodes - 1), static_cast<Bytes>(in(0, most_bytes))}, tag);
      }
    }
    end_step(schedule);
    for (RankLog& log : schedule.ranks) {
      const std::size_t next = log.step_ends.size();
      if (in(0, 2) == 0) log.rearranged.add(next, static_cast<Bytes>(in(0, 40)));
      if (in(0, 2) == 0) log.combined.add(next, static_cast<Bytes>(in(0, 40)));
    }
  }
}

std::string RandomCase::text() const {
  return fmt::format(
      "{}, {} virtual channels, ts {}, f {}, F {}, H {}, C {}, S {}, P {}, Q {}, "
      "packets of {}, N {}, {} port, {}",
      schedule.topology.name(), virtual_channels, model.startup, model.flit_bytes, model.flit,
      model.hop, model.credit, model.slots, model.port_flit(), model.port_buffer(),
      model.forwarding == Forwarding::packets ? model.packet : 0, model.node,
      model.all_port ? "all" : "one", model.lock_step ? "lock step" : "alone");
}

}  // namespace wormcube::test
