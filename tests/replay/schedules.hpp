// Schedules for the tests of replay: written down message by message, recorded, or random; and what
// an observer saw of each worm.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/runtime/replay/replay.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace wormcube::test {

struct Sent {
  Rank from, to;
  Bytes bytes;
  std::vector<Move> moves = {};
};
using Step = std::vector<Sent>;
/// All nodes of a ring of 4 send half way round, going '+'.
Step half_way(Bytes bytes);

struct LocalWork {
  std::size_t step;  // before which; the number of steps: after the last
  Rank node;
  Bytes moved = 0, combined = 0;
};

Schedule written(const char* topology, const std::vector<Step>& steps,
                 const std::vector<LocalWork>& work = {});
Schedule recorded(Operation operation, const Topology& topology, const Collective& collective,
                  Bytes bytes);
/// permute goes by transpose.
Schedule recorded(Operation operation, const char* topology, const char* algorithm, Bytes bytes);

/// A tick for a flit, a hop and a credit, four slots, everything else free.
MachineModel unit_model();

/// Keeps the starts of every flit, by (step, source, index).
struct Witness final : ReplayObserver {
  using Key = std::tuple<std::uint32_t, Rank, std::uint32_t>;
  void delivered(const WormLife& worm) override;
  std::map<Key, std::vector<std::vector<Ticks>>> starts;
  std::map<Key, std::vector<Channel>> routes;
  std::map<Key, std::vector<Ticks>> granted, released;
};

struct Outcome {
  Replay replay;
  std::map<Witness::Key, std::vector<std::vector<Ticks>>> starts;
  const ReplayedMessage& message(std::uint32_t step, Rank from) const;
  std::vector<Ticks> sent() const;
  std::vector<Ticks> delivered() const;
};
Outcome outcome(const char* topology, const std::vector<Step>& steps, const MachineModel& model,
                int virtual_channels = 2, const std::vector<LocalWork>& work = {});

/// A random network, model and schedule: messages by the router's routes, to oneself, empty ones,
/// several to a port, nodes that work between the steps.
enum class PortsAre { fast, slow, of_packets };
struct RandomCase {
  explicit RandomCase(std::uint64_t seed, PortsAre ports = PortsAre::fast);
  Schedule schedule;
  MachineModel model;
  int virtual_channels = 2;
  std::string text() const;
};

}  // namespace wormcube::test
