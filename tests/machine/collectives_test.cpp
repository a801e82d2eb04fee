// Every registered algorithm on real nodes: delivery, and traces that equal the dry run's record.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/run.hpp"
#include "wormcube/tests/collectives/cases.hpp"
#include "wormcube/tests/machine/support.hpp"

#include <array>
#include <memory>
#include <vector>

#include <catch2/catch.hpp>

namespace {

using namespace wormcube;

constexpr Rank most_nodes = sanitized ? 8 : 64;
/// Up to so many nodes every call runs on threads and on fibers; on more, elements that tell run on
/// fibers and bytes on threads, so that each number of elements meets both kinds of nodes. The wide
/// test, which takes minutes, leaves nothing out.
constexpr Rank most_on_both = sanitized ? 0 : 16;

/// Wide channels for long blocks and narrow ones for short blocks, of fibers the other way round.
MachineOptions options_for(NodesAs nodes_as, Bytes elements) {
  MachineOptions options = machine_tests::plain(nodes_as);
  const bool threads = nodes_as == NodesAs::threads;
  if (threads == (elements > 1)) return options;
  options.channel_capacity = 1;
  options.eager_limit = threads ? 0 : 1 << 20;
  options.lock_step = threads;
  return options;
}

/// Runs calls on real nodes, on machines that are kept as long as the network stays the same.
class Runs {
 public:
  explicit Runs(Bytes elements) : elements_(elements) {}

  void check(const cases::Call& call, const Topology& topology, NodesAs nodes_as) {
    const bool threads = nodes_as == NodesAs::threads,
               all_port = call.collective.algorithm->ports == Ports::all;
    INFO((threads ? "threads" : "fibers")
         << ", blocks of " << call.contract.block_bytes << " bytes");
    std::unique_ptr<Machine>& machine = machines_[threads][all_port];
    if (!machine || machine->topology().name() != topology.name()) {
      MachineOptions options = options_for(nodes_as, elements_);
      options.all_port = all_port;
      machine.reset();
      machine = std::make_unique<Machine>(topology, options);
    }
    Verification verification(call.contract);
    Schedule trace{topology, {}};
    machine->run(collective_program(call.collective, call.contract, &verification), trace);
    INFO(verification.first());
    CHECK(verification.passed());
    CHECK(trace == record(topology, call.dry()));
  }

 private:
  Bytes elements_;
  std::array<std::array<std::unique_ptr<Machine>, 2>, 2> machines_;
};

/// Each case on threads or fibers, small ones on both; empty blocks on fibers alone, for what they test is the steps.
void check_runs(Bytes elements, Rank both_up_to) {
  Runs runs(elements);
  cases::for_each(
      [&](const Collective& collective, const Topology& topology) {
        INFO(cases::title(collective, topology));
        const std::vector<cases::Call> calls = cases::calls(collective, topology, elements);
        runs.check(calls.front(), topology, NodesAs::fibers);
        runs.check(calls.back(), topology, elements == 0 ? NodesAs::fibers : NodesAs::threads);
        if (elements == 0 || calls.size() == 1 || topology.nodes() > both_up_to) return;
        runs.check(calls.front(), topology, NodesAs::threads);
        runs.check(calls.back(), topology, NodesAs::fibers);
      },
      most_nodes);
}

TEST_CASE("every algorithm takes empty blocks on fibers, and its trace is its record",
          "[machine][collectives]") {
  check_runs(0, most_on_both);
}
TEST_CASE("every algorithm delivers one element on threads and fibers, and its trace is its record",
          "[machine][collectives]") {
  check_runs(1, most_on_both / 2);
}
TEST_CASE("every algorithm delivers 13 elements on threads and fibers, and its trace is its record",
          "[machine][collectives]") {
  check_runs(13, most_on_both);
}

TEST_CASE("every call runs both on threads and on fibers", "[machine][collectives][.][wide]") {
  check_runs(GENERATE(0, 1, 13), most_nodes);
}

TEST_CASE("blocks of many sizes arrive whole, empty ones too", "[machine][collectives]") {
  const Bytes bytes = GENERATE(Bytes{0}, Bytes{1}, Bytes{7}, Bytes{64}, Bytes{1000}, Bytes{5000});
  for (const char* text : {"torus:4x4", "mesh:3x5", "hypercube:4", "ring:7", "complete:5"}) {
    const Topology topology = Topology::parse(text);
    if (sanitized && topology.nodes() > 8) continue;
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
