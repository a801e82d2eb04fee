// A node program that deadlocks, and what the machine says about it.
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
      // Each node waits for the next one before it sends anything itself: a cyclic wait. Sent and
      // received in one step, nothing would wait:
      //   node.step({send(mod(r - 1, p), mine), receive(mod(r + 1, p), theirs)});
      node.step({receive(mod(r + 1, p), theirs)});
      node.step({send(mod(r - 1, p), mine)});
    });
  } catch (const Deadlock& deadlock) {
    // Found by the last node that has to wait, at once; nobody waits for a time limit.
    std::printf("%s\n", deadlock.what());
  }

  // A check of the program finds the same without running it: the step's receives have no sends.
  const auto schedule = record(machine.topology(), [](Node& node) {
    const Memory theirs = node.memory(8);
    node.step({receive(mod(node.rank() + 1, node.size()), theirs)});
  });
  const ScheduleReport report = check(schedule, Routing(machine.topology()), false);
  for (const std::string& problem : report.problems) std::printf("check: %s\n", problem.c_str());

  // The machine has unwound all nodes and is as good as new.
  machine.run([](Node& node) { node.step(); });
  return 0;
}
