// The model of docs/explanation/replay.md tick by tick and flit by flit: slow, short, and written
// apart from runtime/replay, for the tests to compare with.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/replay/replay.hpp"

#include <string>
#include <vector>

namespace wormcube::test {

struct FlitMessage {
  Rank from, to;
  std::uint32_t step, index;
  Ticks posted = no_tick, ready = no_tick, sent = no_tick, delivered = no_tick, waited = 0;
  std::vector<std::vector<Ticks>> starts;  // of each flit on each stage
};

struct FlitReplay {
  bool deadlock = false;
  Ticks time = 0;
  std::vector<FlitMessage> messages;  // by (step, source, index)
  std::vector<std::vector<Ticks>> steps;
  std::vector<Ticks> finish;
  std::vector<std::string> broken;  // laws of the network that a tick broke
};

FlitReplay flit_by_flit(const Schedule& schedule, const Routing& routing,
                        const MachineModel& model);

}  // namespace wormcube::test
