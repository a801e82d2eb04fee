// Every registered algorithm on real nodes: delivery, and traces that equal the dry run's record.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/run.hpp"
#include "wormcube/tests/collectives/cases.hpp"
#include "wormcube/tests/machine/support.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace wormcube;

// The kinds of machine that every algorithm must run on. Networks are small where sanitizers make
// threads slow.
struct Kind {
  const char* name;
  MachineOptions options;
};
std::vector<Kind> kinds() {
  std::vector<Kind> kinds;
  kinds.push_back({"threads", {}});
  kinds.push_back({"threads, capacity 1, no eager messages, lock step", {}});
  kinds.back().options.channel_capacity = 1;
  kinds.back().options.eager_limit = 0;
  kinds.back().options.lock_step = true;
  kinds.push_back({"fibers, capacity 1, all messages eager", {}});
  kinds.back().options.nodes_as = NodesAs::fibers;
  kinds.back().options.channel_capacity = 1;
  kinds.back().options.eager_limit = 1 << 20;
  return kinds;
}
constexpr Rank most_nodes = machine_tests::patience > 1 ? 16 : 96;

TEST_CASE("every algorithm delivers every block on real nodes, and its trace is its record",
          "[machine][collectives]") {
  // Blocks of one tag per part know where they come from; odd blocks of words meet every remainder.
  const auto choice =
      GENERATE(std::pair(0, false), std::pair(1, false), std::pair(2, false), std::pair(0, true));
  const bool odd_words = choice.second;
  const Kind chosen = kinds()[static_cast<std::size_t>(choice.first)];
  INFO(chosen.name);
  cases::for_each(
      [&](const Collective& collective, const Topology& topology) {
        INFO(cases::title(collective, topology));
        MachineOptions options = chosen.options;
        options.all_port = collective.algorithm->ports == Ports::all;
        Machine machine(topology, options);
        Collective called = collective;
        if (odd_words && called.operation()->reduces) {
          called.arguments.reduction = find_reduction("max", "uint8");
        }
        const cases::Call call = odd_words ? cases::Call(called, topology, 13, Pattern::words)
                                           : cases::Call(called, topology);
        Verification verification(call.contract);
        Schedule trace{topology, {}};
        machine.run(collective_program(call.collective, call.contract, &verification), trace);
        INFO(verification.first());
        CHECK(verification.passed());
        CHECK(trace == record(topology, call.dry()));
      },
      most_nodes);
}

TEST_CASE("blocks of many sizes arrive whole, empty ones too", "[machine][collectives]") {
  const Bytes bytes = GENERATE(Bytes{0}, Bytes{1}, Bytes{7}, Bytes{64}, Bytes{1000}, Bytes{5000});
  for (const char* text : {"torus:4x4", "mesh:3x5", "hypercube:4", "ring:7", "complete:5"}) {
    const Topology topology = Topology::parse(text);
    for (const Algorithm* algorithm : registry()) {
      Arguments arguments;
      if (algorithm->operation->reduces) arguments.reduction = find_reduction("sum", "uint8");
      const Collective collective(*algorithm, arguments);
      if (refusal(collective, topology)) continue;
      INFO(cases::title(collective, topology) << ", " << bytes << " bytes");
      MachineOptions options;
      options.all_port = algorithm->ports == Ports::all;
      Machine machine(topology, options);
      CollectiveRun run;
      run.block_bytes = bytes;
      run.iterations = 2;
      const RunResult result = run_collective(machine, collective, run);
      CHECK(result.wrong == 0U);
    }
  }
}

TEST_CASE("the options of the complete exchanges run on real nodes", "[machine][collectives]") {
  const auto delivers = [](const char* text, const std::string& called) {
    INFO(called << " on " << text);
    const Topology topology = Topology::parse(text);
    MachineOptions options;
    options.nodes_as = NodesAs::fibers;
    options.channel_capacity = 1;
    Machine machine(topology, options);
    CollectiveRun run;
    run.block_bytes = 24;
    run.iterations = 2;
    CHECK(run_collective(machine, cases::alltoall(called), run).wrong == 0U);
  };
  for (const std::string order : {"paper", "parity", "overlap"}) {
    for (const std::string ring : {"plus", "folded"}) {
      for (const char* mesh : {"mesh:7x5x3", "mesh:8x4x2x2", "mesh:9x7", "line:9"}) {
        delivers(mesh, "suh-mesh:order=" + order + ":ring=" + ring);
      }
    }
  }
  for (const char* const divisions : {"1", "2"}) {
    delivers("torus:8x8", std::string("kim-recursive:divisions=") + divisions);
  }
  for (const Rank root : {0, 3, 11}) {
    Arguments arguments;
    arguments.root = root;
    Machine machine(Topology::parse("mesh:3x4"));
    const auto halving = cases::collective_of(operations::broadcast, "halving", arguments);
    CHECK(run_collective(machine, halving, {}).wrong == 0U);
  }
}

TEST_CASE("every torus exchange of 256 nodes runs on OS threads",
          "[machine][collectives][stress]") {
  if (machine_tests::patience > 1) return;  // too many threads for a sanitizer
  Machine machine(Topology::parse("torus:16x16"));
  for (const Collective& collective : admitted(operations::alltoall, machine.topology())) {
    if (collective.algorithm->ports == Ports::all) continue;
    if (collective.name() == "product-naive") continue;  // 17408 steps of one block
    INFO(collective.text());
    CollectiveRun run;
    run.block_bytes = 40;
    run.iterations = 2;
    CHECK(run_collective(machine, collective, run).wrong == 0U);
  }
}

}  // namespace
