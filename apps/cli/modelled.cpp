// Collectives on the modelled machine.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/modelled.hpp"

#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/memory.hpp"

#include <fmt/core.h>

namespace wormcube::cli {

Schedule record_call(const Collective& collective, const Topology& topology, Bytes block_bytes,
                     bool in_place) {
  const std::string title = fmt::format("{} {}", collective.operation()->name, collective.text());
  topology.require_routable();
  const Program program = collective_program(
      collective,
      contract_of(collective, topology.nodes(), block_bytes, 1, Pattern::words, in_place), nullptr);
  need_to_record(fmt::format("replay {} on {}", title, topology.name()), topology, program,
                 collective.arguments.root);
  return record(topology, program, title);
}

std::optional<Ticks> replayed_time(const Collective& collective, const Topology& topology,
                                   Bytes block_bytes, MachineModel model, int virtual_channels,
                                   bool all_port) {
  model.all_port = all_port;
  const Schedule schedule = record_call(collective, topology, block_bytes);
  return replay(schedule, Routing(topology, virtual_channels), model, {.steps = false}).time;
}

}  // namespace wormcube::cli
