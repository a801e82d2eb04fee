// A node program that deadlocks, and the machine's report.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <wormcube/wormcube.hpp>

using namespace wormcube;

int main() {
  Machine machine(Topology::parse("ring:4"));
  try {
    machine.run([](Node& node) {
      const Rank p = node.size(), r = node.rank();
      const Memory mine = node.memory(8), theirs = node.memory(8);
      // Each node waits for the next one before it sends anything itself: a cyclic wait. With the
      // send and the receive in one step, nothing waits:
      //   node.step({send(mod(r - 1, p), mine), receive(mod(r + 1, p), theirs)});
      node.step({receive(mod(r + 1, p), theirs)});
      node.step({send(mod(r - 1, p), mine)});
    });
  } catch (const Deadlock& deadlock) {
    // The last node that has to wait detects the deadlock at once, without a time limit.
    std::printf("%s\n", deadlock.what());
  }

  // A check finds the error without a run: the step's receives have no sends.
  const auto schedule = record(machine.topology(), [](Node& node) {
    const Memory theirs = node.memory(8);
    node.step({receive(mod(node.rank() + 1, node.size()), theirs)});
  });
  const ScheduleReport report = check(schedule, Routing(machine.topology()), false);
  for (const std::string& problem : report.problems) std::printf("check: %s\n", problem.c_str());

  // The machine has unwound all nodes and can run again.
  machine.run([](Node& node) { node.step(); });
  return 0;
}
