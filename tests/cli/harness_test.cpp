// The harness notices what is wrong: mutants of algorithms, of formulas, of schedules.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/memory.hpp"
#include "wormcube/collectives/harness/run.hpp"
#include "wormcube/runtime/error.hpp"

#include <algorithm>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;

namespace {

const Topology ring4 = Topology::parse("ring:4");

/// The alltoall that every network admits, to be spoilt.
Algorithm shift() { return find_algorithm(Operation::alltoall, "shift"); }

void call_shift(Node& node, const Call& call) {
  find_algorithm(Operation::alltoall, "shift").program(node, call);
}

/// Delivers everything, then forgets one byte of the last node's output.
void loses_a_block(Node& node, const Call& call) {
  call_shift(node, call);
  node.local([&] {
    if (node.rank() == node.size() - 1) std::ranges::fill(call.output[0], std::byte{0});
  });
}

/// Every block arrives, some in the place of another.
void swaps_two_blocks(Node& node, const Call& call) {
  call_shift(node, call);
  node.local([&] { std::ranges::swap_ranges(call.output[0], call.output[1]); });
}

void says_nothing(Node&, const Call&) {}

void sends_into_the_void(Node& node, const Call& call) {
  if (node.rank() == 0) {
    node.step({send(1, call.input[1])});
  } else {
    node.step();
  }
}

/// Two messages into one node in a step.
void crowds(Node& node, const Call& call) {
  if (node.rank() == 0) {
    node.step({receive(1, call.output[1]), receive(2, call.output[2])});
  } else if (node.rank() < 3) {
    node.step({send(0, call.input[0])});
  } else {
    node.step();
  }
}

bool fails_with(const CheckResult& result, const std::string& words) {
  return std::ranges::any_of(result.failures, [&](const std::string& failure) {
    return failure.find(words) != failure.npos;
  });
}

/// A broadcast's schedule from (step, from, to) triples, one block each.
Schedule broadcast_schedule(Rank nodes, std::size_t steps,
                            const std::vector<std::array<Rank, 3>>& messages, Bytes bytes = 8) {
  return record(Topology({Graph::complete(nodes)}), [&](Node& node) {
    std::vector<std::byte> block(bytes), received(bytes);
    for (std::size_t step = 0; step < steps; ++step) {
      std::vector<Op> ops;
      for (const auto& [at, from, to] : messages) {
        if (static_cast<std::size_t>(at) != step) continue;
        if (from == node.rank()) ops.push_back(send(to, block));
        if (to == node.rank()) ops.push_back(receive(from, received));
      }
      node.step(ops);
    }
  });
}

}  // namespace

TEST_CASE("an algorithm that is right passes its check") {
  const CheckResult result = check_collective(shift(), ring4, {});
  CHECK(result.passed());
  CHECK(result.delivered == true);
  CHECK(result.exactly_once == true);
}

TEST_CASE("the check notices each kind of mutant") {
  Algorithm mutant = shift();
  mutant.predict = [](const Topology&, const Parameters&) { return Prediction{}; };
  SECTION("a lost block is not delivered") {
    mutant.program = loses_a_block;
    const CheckResult result = check_collective(mutant, ring4, {});
    CHECK(result.delivered == false);
    CHECK_FALSE(result.passed());
  }
  SECTION("two blocks that change places are not exactly once") {
    mutant.program = swaps_two_blocks;
    const CheckResult result = check_collective(mutant, ring4, {});
    CHECK(result.delivered == false);
    CHECK(result.exactly_once == false);
    CHECK_FALSE(result.passed());
  }
  SECTION("an algorithm that does nothing") {
    mutant.program = says_nothing;
    CHECK(check_collective(mutant, ring4, {}).delivered == false);
  }
  SECTION("a send without a receive") {
    mutant.program = sends_into_the_void;
    const CheckResult result = check_collective(mutant, ring4, {});
    CHECK(fails_with(result, "without a partner"));
    CHECK(result.delivered == false);
  }
  SECTION("a port used twice, but not where there is one for each link") {
    mutant.program = crowds;
    CHECK(fails_with(check_collective(mutant, ring4, {}), "port"));
    CHECK_FALSE(fails_with(
        check_collective(mutant, Topology::parse("complete:4"), {}, {.all_port = true}), "port"));
  }
  SECTION("a claim of freedom from contention that does not hold") {
    mutant.contention_free = true;
    CHECK(fails_with(check_collective(mutant, ring4, {}), "link carries"));
  }
  SECTION("each wrong formula") {
    mutant.predict = [](const Topology&, const Parameters&) { return Prediction{4, 4, 1, 1, 3}; };
    const CheckResult result = check_collective(mutant, ring4, {});
    for (const char* what :
         {"start-ups", "transmission", "rearrangement", "working blocks", "link load"}) {
      INFO(what);
      CHECK(fails_with(result, what));
    }
  }
  SECTION("a ring without its second virtual channel") {
    CHECK(fails_with(
        check_collective(mutant, Topology::parse("ring:5"), {}, {.virtual_channels = 1}), "cycle"));
  }
}

TEST_CASE("what was not proved has no verdict, and that is no failure") {
  const CheckResult result = check_collective(shift(), ring4, {}, {.prove_up_to = 3});
  CHECK_FALSE(result.delivered.has_value());
  CHECK_FALSE(result.exactly_once.has_value());
  CHECK_THAT(result.proof, Contains("4 nodes"));
  CHECK(result.passed());
}

TEST_CASE("a broadcast is proved from its schedule alone") {
  bool once = false;
  SECTION("a tree reaches all") {
    const auto schedule = broadcast_schedule(4, 2, {{0, 0, 2}, {1, 0, 1}, {1, 2, 3}});
    CHECK(broadcast_reaches_all(schedule, 0, 8, once) == true);
    CHECK(once);
  }
  SECTION("somebody is left out") {
    CHECK(broadcast_reaches_all(broadcast_schedule(3, 1, {{0, 0, 2}}), 0, 8, once) == false);
  }
  SECTION("somebody sends what arrives only in that step") {
    CHECK(broadcast_reaches_all(broadcast_schedule(3, 1, {{0, 0, 1}, {0, 1, 2}}), 0, 8, once) ==
          false);
  }
  SECTION("somebody hears it twice") {
    CHECK(broadcast_reaches_all(broadcast_schedule(2, 2, {{0, 0, 1}, {1, 0, 1}}), 0, 8, once) ==
          true);
    CHECK_FALSE(once);
  }
  SECTION("parts of a block prove nothing") {
    CHECK(broadcast_reaches_all(broadcast_schedule(2, 1, {{0, 0, 1}}, 4), 0, 8, once) ==
          std::nullopt);
  }
  SECTION("the real one, and the proof by a run agree") {
    const Algorithm& halving = find_algorithm(Operation::broadcast, "halving");
    const Topology topology = Topology::parse("mesh:3x5");
    const CheckResult by_schedule =
        check_collective(halving, topology, {.root = 7}, {.prove_up_to = 1});
    const CheckResult by_run = check_collective(halving, topology, {.root = 7});
    CHECK(by_schedule.delivered == true);
    CHECK(by_run.delivered == true);
    CHECK_THAT(by_schedule.proof, Contains("schedule"));
  }
}

TEST_CASE("a run counts the bytes that a mutant gets wrong") {
  Machine machine(ring4);
  const CollectiveRun run{.block_bytes = 100, .iterations = 2};
  CHECK(run_collective(machine, shift(), {}, run).wrong == 0U);
  Algorithm mutant = shift();
  mutant.program = loses_a_block;
  const RunResult lost = run_collective(machine, mutant, {}, run);
  CHECK(*lost.wrong > 90);
  CHECK(*lost.wrong <= 100);
  CHECK_FALSE(lost.passed());
  CHECK_FALSE(lost.first_wrong.empty());
  mutant.program = says_nothing;
  CHECK(*run_collective(machine, mutant, {}, run).wrong > 1000);
}

TEST_CASE("a barrier that lets somebody through is wrong") {
  Machine machine(Topology::parse("ring:8"));
  Algorithm mutant = find_algorithm(Operation::barrier, "dissemination");
  mutant.program = says_nothing;
  CollectiveRun run{.block_bytes = 0, .iterations = 1};
  CHECK(
      run_collective(machine, find_algorithm(Operation::barrier, "dissemination"), {}, run).wrong ==
      0U);
  // Nodes may happen to enter together; some time one does not.
  bool noticed = false;
  for (int attempt = 0; attempt < 200 && !noticed; ++attempt) {
    noticed = *run_collective(machine, mutant, {}, run).wrong > 0;
  }
  CHECK(noticed);
}

TEST_CASE("a run's data rates are those of nccl-tests") {
  Machine machine(ring4);
  const CollectiveRun run{.block_bytes = 1000, .iterations = 3};
  for (const auto& [operation, name, data, share] :
       {std::tuple{Operation::alltoall, "shift", 4000.0, 0.75},
        std::tuple{Operation::allgather, "ring", 4000.0, 0.75},
        std::tuple{Operation::broadcast, "halving", 1000.0, 1.0}}) {
    const RunResult result = run_collective(machine, find_algorithm(operation, name), {}, run);
    INFO(name);
    REQUIRE(result.times_us.size() == 3);
    CHECK(result.data_bytes == data);
    CHECK(*result.algbw_gb_per_s == Approx(data / result.median_us / 1000));
    CHECK(*result.busbw_gb_per_s == Approx(share * *result.algbw_gb_per_s));
    CHECK(result.peak_bytes >= 1000);
    CHECK(result.deadlock_free);
  }
}

TEST_CASE("a run is refused, before it starts, for memory, ports and counts") {
  Machine machine(ring4);
  CHECK_THROWS_WITH(run_collective(machine, shift(), {}, {.block_bytes = Bytes{1} << 40}),
                    Contains("GiB"));
  CHECK_THROWS_WITH(run_collective(machine, shift(), {}, {.iterations = 0}),
                    Contains("iterations"));
  Machine cube(Topology::parse("hypercube:2"));
  CHECK_THROWS_WITH(
      run_collective(cube, find_algorithm(Operation::alltoall, "hypercube-all-port"), {}, {}),
      Contains("ports"));
}

TEST_CASE("memory is what /proc/meminfo says, and a few ranks tell what all need") {
  CHECK(available_memory_bytes() > 1e7);
  CHECK_NOTHROW(require_available_memory("test", 1000));
  CHECK_THROWS_AS(require_available_memory("test", 1e18), UsageError);
  const Topology ring = Topology::parse("ring:200");
  const MemoryNeed need = memory_need(ring, [](Node& node) {
    const Memory memory = node.memory(1000);
    node.step();
  });
  CHECK(need.nodes == Approx(200 * 1000));
  CHECK(need.schedule > 0);
}
