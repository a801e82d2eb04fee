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
      [&](const Algorithm& algorithm, const Topology& topology) {
        INFO(cases::title(algorithm, topology));
        MachineOptions options = chosen.options;
        options.all_port = algorithm.ports == Ports::all;
        Machine machine(topology, options);
        const Bytes bytes = odd_words ? 13 : 8 * static_cast<Bytes>(algorithm.parts(topology));
        const Pattern pattern = odd_words ? Pattern::words : Pattern::tags;
        Verification verification(topology.nodes());
        Schedule trace{topology, {}};
        machine.run(collective_program(algorithm, {}, bytes, cases::seed, &verification, pattern),
                    trace);
        INFO(verification.first());
        CHECK(verification.passed());
        CHECK(trace == record(topology, collective_program(algorithm, {}, bytes, cases::seed,
                                                           nullptr, pattern)));
      },
      most_nodes);
}

TEST_CASE("blocks of many sizes arrive whole, empty ones too", "[machine][collectives]") {
  const Bytes bytes = GENERATE(Bytes{0}, Bytes{1}, Bytes{7}, Bytes{64}, Bytes{1000}, Bytes{5000});
  for (const char* text : {"torus:4x4", "mesh:3x5", "hypercube:4", "ring:7", "complete:5"}) {
    const Topology topology = Topology::parse(text);
    for (const Algorithm& algorithm : registry()) {
      if (refusal(algorithm, topology, {})) continue;
      INFO(cases::title(algorithm, topology) << ", " << bytes << " bytes");
      MachineOptions options;
      options.all_port = algorithm.ports == Ports::all;
      Machine machine(topology, options);
      CollectiveRun run;
      run.block_bytes = bytes;
      run.iterations = 2;
      const RunResult result = run_collective(machine, algorithm, {}, run);
      CHECK(result.wrong == 0U);
    }
  }
}

TEST_CASE("the parameters of the complete exchanges run on real nodes", "[machine][collectives]") {
  const auto delivers = [](const char* text, const char* name, const Parameters& parameters) {
    INFO(name << " on " << text);
    const Topology topology = Topology::parse(text);
    MachineOptions options;
    options.nodes_as = NodesAs::fibers;
    options.channel_capacity = 1;
    Machine machine(topology, options);
    CollectiveRun run;
    run.block_bytes = 24;
    run.iterations = 2;
    CHECK(
        run_collective(machine, find_algorithm(Operation::alltoall, name), parameters, run).wrong ==
        0U);
  };
  Parameters parameters;
  for (const MeshOrder order : {MeshOrder::paper, MeshOrder::parity, MeshOrder::overlap}) {
    for (const MeshRing ring : {MeshRing::plus, MeshRing::folded}) {
      parameters.order = order;
      parameters.ring = ring;
      for (const char* mesh : {"mesh:7x5x3", "mesh:8x4x2x2", "mesh:9x7", "line:9"}) {
        delivers(mesh, "suh-mesh", parameters);
      }
    }
  }
  for (const int divisions : {1, 2}) {
    parameters.divisions = divisions;
    delivers("torus:8x8", "kim-recursive", parameters);
  }
  for (const Rank root : {0, 3, 11}) {
    parameters.root = root;
    const Topology topology = Topology::parse("mesh:3x4");
    Machine machine(topology);
    CHECK(run_collective(machine, find_algorithm(Operation::broadcast, "halving"), parameters, {})
              .wrong == 0U);
  }
}

TEST_CASE("every torus exchange of 256 nodes runs on OS threads",
          "[machine][collectives][stress]") {
  if (machine_tests::patience > 1) return;  // too many threads for a sanitizer
  Machine machine(Topology::parse("torus:16x16"));
  for (const Algorithm* algorithm : admitted(Operation::alltoall, machine.topology(), {})) {
    if (algorithm->ports == Ports::all) continue;
    if (algorithm->name == "product-naive") continue;  // 17408 steps of one block
    INFO(algorithm->name);
    CollectiveRun run;
    run.block_bytes = 40;
    run.iterations = 2;
    CHECK(run_collective(machine, *algorithm, {}, run).wrong == 0U);
  }
}

}  // namespace
