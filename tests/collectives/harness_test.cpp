// The harness detects errors: mutants of algorithms, of formulas, of schedules.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/run.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <system_error>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;

namespace {

const Topology ring4 = Topology::parse("ring:4");

/// The alltoall that every network admits, to be spoilt.
Algorithm shift() { return find_algorithm(operations::alltoall, "shift"); }

Collective named(Operation operation, std::string_view name, const Arguments& arguments = {}) {
  return Collective(find_algorithm(operation, name), arguments);
}

void call_shift(Node& node, const Call& call) {
  find_algorithm(operations::alltoall, "shift").program(node, call);
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

void sends_nothing_at_all(Node&, const Call&) {}

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

/// Everything arrives, one block twice.
void moves_a_block_twice(Node& node, const Call& call) {
  call_shift(node, call);
  if (node.rank() == 1) {
    node.step({send(2, call.input[2])});
  } else if (node.rank() == 2) {
    node.step({receive(1, call.output[1])});
  } else {
    node.step();
  }
}

/// Everything arrives, and an input is not what it was.
void writes_to_its_input(Node& node, const Call& call) {
  call_shift(node, call);
  node.local([&] {
    const ConstSpan mine = call.input[0];
    if (node.rank() == 1) const_cast<std::byte*>(mine.data())[0] ^= std::byte{1};
  });
}

/// Right in the first two calls of each node; in the third it does nothing.
std::array<int, 4> calls{};
void idle_in_the_third_call(Node& node, const Call& call) {
  int made = 0;
  node.local([&] { made = ++calls[static_cast<std::size_t>(node.rank())]; });
  if (made != 3) call_shift(node, call);
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
  const CheckResult result = check_collective(named(operations::alltoall, "shift"), ring4, {});
  CHECK(result.passed());
  CHECK(result.delivered == true);
  CHECK(result.exactly_once == true);
}

TEST_CASE("the check notices each kind of mutant") {
  Algorithm mutant = shift();
  mutant.predict = [](const Setting&) { return Prediction{}; };
  SECTION("a lost block is not delivered") {
    mutant.program = loses_a_block;
    const CheckResult result = check_collective(Collective(mutant), ring4);
    CHECK(result.delivered == false);
    CHECK_FALSE(result.passed());
  }
  SECTION("two blocks that change places came once each, and are not delivered") {
    mutant.program = swaps_two_blocks;
    const CheckResult result = check_collective(Collective(mutant), ring4);
    CHECK(result.delivered == false);
    CHECK(result.exactly_once == true);
    CHECK(fails_with(result, "not delivered: node 0, block 0, byte 0: not from block 0 of node 0"));
  }
  SECTION("a block that comes twice is delivered, but not exactly once") {
    mutant.program = moves_a_block_twice;
    const CheckResult result = check_collective(Collective(mutant), ring4);
    CHECK(result.delivered == true);
    CHECK(result.exactly_once == false);
    CHECK_FALSE(result.passed());
    CHECK(fails_with(result, "not exactly once: node 2 receives block 2 of node 1 twice"));
    // Who does not claim it may.
    mutant.exactly_once = false;
    const CheckResult allowed = check_collective(Collective(mutant), ring4);
    CHECK(allowed.exactly_once == false);
    CHECK(allowed.passed());
  }
  SECTION("an input that was changed") {
    mutant.program = writes_to_its_input;
    const CheckResult result = check_collective(Collective(mutant), ring4);
    CHECK(result.delivered == false);
    CHECK(fails_with(result, "node 1: its input was changed"));
  }
  SECTION("an algorithm that does nothing") {
    mutant.program = sends_nothing_at_all;
    CHECK(check_collective(Collective(mutant), ring4).delivered == false);
  }
  SECTION("a send without a receive") {
    mutant.program = sends_into_the_void;
    const CheckResult result = check_collective(Collective(mutant), ring4);
    CHECK(fails_with(result, "without a partner"));
    CHECK(result.delivered == false);
  }
  SECTION("a port used twice, but not where there is one for each link") {
    mutant.program = crowds;
    CHECK(fails_with(check_collective(Collective(mutant), ring4), "port"));
    CHECK_FALSE(fails_with(
        check_collective(Collective(mutant), Topology::parse("complete:4"), {.all_port = true}),
        "port"));
  }
  SECTION("a claim of freedom from contention that does not hold") {
    mutant.contention_free = true;
    CHECK(fails_with(check_collective(Collective(mutant), ring4), "link carries"));
  }
  SECTION("each wrong formula") {
    mutant.predict = [](const Setting&) {
      return Prediction{.startups = 4,
                        .transmission_blocks = 4,
                        .rearranged_blocks = 1,
                        .working_blocks = 1,
                        .link_load = 3,
                        .link_blocks = 5,
                        .combined_blocks = 1};
    };
    const CheckResult result = check_collective(Collective(mutant), ring4);
    for (const char* what : {"start-ups", "transmission", "rearrangement", "working blocks",
                             "link load", "with contention"}) {
      INFO(what);
      CHECK(fails_with(result, what));
    }
  }
  SECTION("a ring without its second virtual channel") {
    CHECK(fails_with(
        check_collective(Collective(mutant), Topology::parse("ring:5"), {.virtual_channels = 1}),
        "its routes can deadlock: a cycle of 5 channels: 0->1"));
  }
}

TEST_CASE("what was not proved has no verdict, and that is no failure") {
  const CheckResult result =
      check_collective(named(operations::alltoall, "shift"), ring4, {.prove_up_to = 3});
  CHECK_FALSE(result.delivered.has_value());
  CHECK_FALSE(result.exactly_once.has_value());
  CHECK_THAT(result.proof, Contains("4 nodes"));
  CHECK(result.passed());
}

TEST_CASE("a proof that runs out of room has no verdict, one that fails has") {
  const auto proof_of = [](void (*work)()) {
    static void (*in_local)() = nullptr;
    in_local = work;
    Algorithm mutant = shift();
    mutant.program = [](Node& node, const Call& call) {
      node.local([] { in_local(); });
      call_shift(node, call);
    };
    return check_collective(Collective(mutant), ring4);
  };
  for (void (*const work)() :
       {+[] { throw std::bad_alloc(); },
        +[] { throw std::system_error(std::make_error_code(std::errc::not_enough_memory)); },
        +[] { throw NoRoom("fibers: no room for 1 stacks"); }}) {
    const CheckResult result = proof_of(work);
    CHECK_FALSE(result.delivered.has_value());
    CHECK_FALSE(result.exactly_once.has_value());
    CHECK_THAT(result.proof,
               Catch::Matchers::StartsWith("not proved: the run ran out of memory: "));
    CHECK(result.passed());
  }
  for (void (*const work)() :
       {+[] { throw std::logic_error("wrong"); }, +[] { throw UsageError("wrong"); }}) {
    const CheckResult result = proof_of(work);
    CHECK(result.delivered == false);
    CHECK_THAT(result.proof, Contains("wrong"));
  }
}

TEST_CASE("what would take too many messages to prove is not proved, and says how many") {
  const Collective shift = named(operations::alltoall, "shift");
  const CheckResult result = check_collective(shift, ring4, {.prove_messages = 11});
  CHECK_FALSE(result.delivered.has_value());
  CHECK_THAT(result.proof,
             Contains("12 messages") && Contains("the limit is 11 (--prove-messages)"));
  CHECK(result.passed());
  CHECK(check_collective(shift, ring4, {.prove_messages = 12}).delivered == true);
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
    Arguments arguments;
    arguments.root = 7;
    const Collective halving = named(operations::broadcast, "halving", arguments);
    const Topology topology = Topology::parse("mesh:3x5");
    const CheckResult by_schedule = check_collective(halving, topology, {.prove_up_to = 1});
    const CheckResult by_run = check_collective(halving, topology);
    CHECK(by_schedule.delivered == true);
    CHECK(by_run.delivered == true);
    CHECK_THAT(by_schedule.proof, Contains("schedule"));
  }
}

namespace {

/// A broadcast from node 0 to each other one, of what lies where; right only with Trick::none.
enum class Trick { none, sends_another_buffer, works_on_the_message, receives_elsewhere };
template <Trick trick>
void tricky_broadcast(Node& node, const Call& call) {
  const Span message = call.output.all();
  const Memory other = node.memory(message.size());
  if (trick == Trick::works_on_the_message) node.local([&] { message[0] ^= std::byte{1}; });
  for (Rank q = 1; q < node.size(); ++q) {
    if (node.rank() == 0) {
      node.step({send(q, trick == Trick::sends_another_buffer ? ConstSpan(other) : message)});
    } else if (node.rank() == q) {
      node.step({receive(0, trick == Trick::receives_elsewhere ? other.span() : message)});
    } else {
      node.step();
    }
  }
}

}  // namespace

TEST_CASE("a schedule proves a broadcast of the message alone, where it lies") {
  const Topology ring = Topology::parse("ring:6");
  Algorithm mutant = find_algorithm(operations::broadcast, "binomial");
  mutant.predict = [](const Setting&) { return Prediction{}; };
  const auto by_schedule = [&](void (*program)(Node&, const Call&)) {
    mutant.program = program;
    return check_collective(Collective(mutant), ring, {.prove_up_to = 1});
  };
  CHECK(by_schedule(tricky_broadcast<Trick::none>).delivered == true);
  for (const auto program : {tricky_broadcast<Trick::sends_another_buffer>,
                             tricky_broadcast<Trick::works_on_the_message>,
                             tricky_broadcast<Trick::receives_elsewhere>}) {
    const CheckResult result = by_schedule(program);
    CHECK_FALSE(result.delivered.has_value());
    CHECK_FALSE(result.exactly_once.has_value());
    CHECK_THAT(result.proof, Contains("a schedule does not show") && Contains("not proved"));
    // A run with tags sees what is wrong.
    mutant.program = program;
    CHECK(check_collective(Collective(mutant), ring).delivered == false);
  }
}

TEST_CASE("an algorithm without formulas is checked, and says that it has none") {
  Algorithm silent = shift();
  silent.predict = [](const Setting&) { return Prediction{}; };
  const CheckResult result = check_collective(Collective(silent), ring4);
  CHECK(result.passed());
  CHECK_FALSE(result.has_formulas());
  CHECK(check_collective(named(operations::alltoall, "shift"), ring4).has_formulas());
}

TEST_CASE("fewer start-ups, or less time on the links, than any algorithm needs is a failure") {
  // An exchange of nothing, and one whose messages are too short.
  Algorithm mutant = shift();
  mutant.predict = [](const Setting&) { return Prediction{}; };
  mutant.program = [](Node& node, const Call&) {
    const Memory byte = node.memory(2);
    node.step({send(mod(node.rank() + 1, node.size()), ConstSpan(byte).first(1)),
               receive(mod(node.rank() - 1, node.size()), byte.subspan(1, 1))});
  };
  const CheckResult result = check_collective(Collective(mutant), ring4);
  CHECK(fails_with(result, "start-ups: counted 1, fewer than the bound 2"));
  CHECK(fails_with(result, "transmission with contention: counted 0.125, fewer than the bound 3"));
}

TEST_CASE("a run counts the bytes that a mutant gets wrong") {
  Machine machine(ring4);
  const CollectiveRun run{.block_bytes = 100, .iterations = 2};
  CHECK(run_collective(machine, named(operations::alltoall, "shift"), run).wrong == 0U);
  Algorithm mutant = shift();
  mutant.program = loses_a_block;
  const RunResult lost = run_collective(machine, Collective(mutant), run);
  CHECK(*lost.wrong > 90);
  CHECK(*lost.wrong <= 100);
  CHECK_FALSE(lost.passed());
  CHECK_FALSE(lost.first_wrong.empty());
  mutant.program = sends_nothing_at_all;
  CHECK(*run_collective(machine, Collective(mutant), run).wrong > 1000);
}

TEST_CASE("a run spoils the output before the call that is verified") {
  // Rightly filled by the calls before, an output that nobody writes any more would look right.
  MachineOptions options;
  options.executor = ExecutorKind::threads;
  for (const auto& [iterations, warmup] : {std::pair(3, 0), std::pair(2, 1), std::pair(1, 2)}) {
    Machine machine(ring4, options);
    Algorithm mutant = shift();
    mutant.program = idle_in_the_third_call;
    calls = {};
    const CollectiveRun run{.block_bytes = 100, .iterations = iterations, .warmup = warmup};
    const RunResult result = run_collective(machine, Collective(mutant), run);
    CHECK(result.wrong == 4 * 4 * 100U);
  }
}

TEST_CASE("a barrier that lets somebody through is wrong") {
  Machine machine(Topology::parse("ring:8"));
  Algorithm mutant = find_algorithm(operations::barrier, "dissemination");
  mutant.program = sends_nothing_at_all;
  CollectiveRun run{.block_bytes = 0, .iterations = 1};
  CHECK(run_collective(machine, named(operations::barrier, "dissemination"), run).wrong == 0U);
  // Nodes may happen to enter together; some time one does not.
  bool noticed = false;
  for (int attempt = 0; attempt < 200 && !noticed; ++attempt) {
    noticed = *run_collective(machine, Collective(mutant), run).wrong > 0;
  }
  CHECK(noticed);
}

TEST_CASE("a run's data rates are those of nccl-tests") {
  Machine machine(ring4);
  const CollectiveRun run{.block_bytes = 1000, .iterations = 3};
  for (const auto& [operation, name, data, share] :
       {std::tuple{Operation(operations::alltoall), "shift", 4000.0, 0.75},
        std::tuple{Operation(operations::allgather), "ring", 4000.0, 0.75},
        std::tuple{Operation(operations::broadcast), "halving", 1000.0, 1.0}}) {
    const RunResult result = run_collective(machine, named(operation, name), run);
    INFO(name);
    REQUIRE(result.times_us.size() == 3);
    CHECK(result.data_bytes == data);
    const TimeSummary times = summarize(result.times_us);
    CHECK(std::array{result.min_us, result.quartile1_us, result.median_us, result.quartile3_us,
                     result.max_us} ==
          std::array{times.min, times.quartile1, times.median, times.quartile3, times.max});
    CHECK(times.min > 0);
    CHECK(*result.algbw_gb_per_s == Approx(data / result.median_us / 1000));
    CHECK(*result.busbw_gb_per_s == Approx(share * *result.algbw_gb_per_s));
    CHECK(result.peak_bytes >= 1000);
    CHECK(result.deadlock_free);
  }
}

TEST_CASE("a run's figures are of all nodes, of one node too, and of the mean of uneven blocks") {
  const CollectiveRun run{.block_bytes = 1000, .iterations = 3};
  Machine machine(ring4, {.executor = ExecutorKind::fibers});
  const Collective shift_v = named(operations::alltoallv, "shift");
  const Contract contract =
      contract_of(shift_v, 4, run.block_bytes, run.seed, Pattern::words, false);
  double sum = 0;
  for (Rank rank = 0; rank < 4; ++rank)
    sum += static_cast<double>(contract.input_offsets(rank).back());
  REQUIRE(sum != 16 * 1000);
  const RunResult uneven = run_collective(machine, shift_v, run);
  CHECK(*uneven.data_bytes == Approx(4 * sum / 16));
  CHECK(uneven.parked > 0);
  CHECK(uneven.blocked < std::uint64_t{1} << 40);
  Machine alone(Topology::parse("ring:1"));
  CHECK(run_collective(alone, named(operations::alltoall, "shift"), run).max_us > 0);
}

TEST_CASE("times are summed up by their quartiles, whatever their order") {
  const auto summary = [](std::vector<double> times) {
    const TimeSummary found = summarize(std::move(times));
    return std::array{found.min, found.quartile1, found.median, found.quartile3, found.max};
  };
  CHECK(summary({7}) == std::array{7.0, 7.0, 7.0, 7.0, 7.0});
  CHECK(summary({3, 1}) == std::array{1.0, 1.0, 2.0, 3.0, 3.0});
  CHECK(summary({10, 3, 1, 2}) == std::array{1.0, 1.0, 2.5, 10.0, 10.0});
  CHECK(summary({5, 1, 4, 2, 3}) == std::array{1.0, 2.0, 3.0, 4.0, 5.0});
  CHECK(summary({9, 1, 8, 2, 7, 3, 6, 4, 5}) == std::array{1.0, 3.0, 5.0, 7.0, 9.0});
}

TEST_CASE("a run makes the requested calls and reports each timed one", "[collectives]") {
  static std::atomic<int> made{0};
  Algorithm counted = shift();
  counted.program = [](Node& node, const Call& call) {
    node.local([] { ++made; });
    call_shift(node, call);
  };
  for (const char* const text : {"ring:1", "ring:4"}) {
    for (const int more : {0, 1, 2}) {
      made = 0;
      const Topology ring = Topology::parse(text);
      Machine machine(ring);
      std::vector<std::pair<int, int>> reported;
      CollectiveRun run{.block_bytes = 8, .iterations = 3, .warmup = 4, .calls = more};
      run.progress = [&](int done, int total) { reported.emplace_back(done, total); };
      const RunResult result = run_collective(machine, Collective(counted), run);
      CHECK(result.wrong == 0U);
      CHECK(made == ring.nodes() * (3 + 4 + more));
      CHECK(reported == std::vector<std::pair<int, int>>{{1, 3}, {2, 3}, {3, 3}});
      REQUIRE(result.back_to_back_us.has_value() == (more > 0));
      if (more > 0) CHECK((*result.back_to_back_us > 0 && *result.back_to_back_us < 1e9));
      CHECK(result.times_us.size() == 3);
      for (const double time : result.times_us) CHECK((time > 0 && time < 1e9));
    }
  }
}

TEST_CASE("a run is refused, before it starts, for memory, ports and counts") {
  // Two times of each node for each call.
  CHECK_THROWS_WITH(
      require_memory_to_run(named(operations::barrier, "dissemination"),
                            Topology::parse("hypercube:10"), {.iterations = 2'000'000'000}),
      Contains("2000000000 timed calls") && Contains("TiB"));
  Machine machine(ring4);
  CHECK_THROWS_WITH(run_collective(machine, named(operations::alltoall, "shift"),
                                   {.block_bytes = Bytes{1} << 40}),
                    Contains("GiB"));
  CHECK_THROWS_WITH(
      run_collective(machine, named(operations::alltoall, "shift"), {.iterations = 0}),
      Contains("0 timed calls"));
  Collective sum = named(operations::allreduce, "ring");
  sum.arguments.reduction = find_reduction("sum", "double");
  CHECK_THROWS_WITH(run_collective(machine, sum, {.block_bytes = 12}),
                    Contains("blocks of 12 bytes; need a multiple of 8"));
  Machine cube(Topology::parse("hypercube:2"));
  CHECK_THROWS_WITH(run_collective(cube, named(operations::alltoall, "hypercube-all-port"), {}),
                    Contains("ports"));
}

namespace {

/// Three steps on a line of 4 nodes. 0: 0 -> 2 and 1 -> 3 share the link 1 -> 2. 1: one long
/// message on free links, and two short ones that share. 2: nobody sends.
void three_steps(Node& node) {
  const Memory memory = node.memory(64);
  const Rank r = node.rank();
  const auto out = [&](Bytes bytes) { return ConstSpan(memory.span().first(bytes)); };
  const auto in = [&](Bytes bytes) { return memory.span().last(bytes); };
  node.rearrange(static_cast<Bytes>(r), [] {});
  if (r < 2) {
    node.step({send(r + 2, out(16))});
  } else {
    node.step({receive(r - 2, in(16))});
  }
  node.combine(r == 1 ? 12 : 4, [] {});
  if (r == 3) {
    node.step({send(2, out(20)), receive(1, in(8))});
  } else if (r == 2) {
    node.step({receive(3, in(20)), receive(0, memory.span().first(8), 1)});
  } else {
    node.step({send(r + 2, out(8), r == 0 ? 1 : 0)});
  }
  node.step();
  node.rearrange(7, [] {});
}

}  // namespace

TEST_CASE("a step takes as long as its longest message or its busiest link") {
  const Topology line = Topology::parse("line:4");
  const ScheduleReport report = check(record(line, three_steps), Routing(line), true);
  REQUIRE(report.steps == 3);
  CHECK(report.startups == 2);
  REQUIRE(report.per_step.size() == 4);
  CHECK(report.per_step[0].largest == 16);
  CHECK(report.per_step[0].link_load == 2);
  CHECK(report.per_step[0].cost == 32);
  CHECK(report.per_step[0].rearranged == 3);
  CHECK(report.per_step[1].largest == 20);
  CHECK(report.per_step[1].link_load == 2);
  CHECK(report.per_step[1].cost == 20);  // 20 x 1 on the way back, 8 x 2 on the shared link
  CHECK(report.per_step[1].combined == 12);
  CHECK(report.per_step[2].cost == 0);
  CHECK(report.per_step[3].rearranged == 7);
  CHECK(report.transmission == 36);
  CHECK(report.contended == 52);
  CHECK(report.rearranged == 10);
  CHECK(report.combined == 12);

  const ModelTime time = lock_step_time(report, CostModel{10, 2, 0.5, 0.25, 0});
  CHECK(time.startups_us == 20);
  CHECK(time.transfer_us == 104);
  CHECK(time.rearrange_us == 5);
  CHECK(time.combine_us == 3);
  CHECK(time.total_us == 132);
}

TEST_CASE("the steps of a call are those of its blocks' size") {
  // Shift on a ring of 8: in step i messages go i hops, min(i, 8 - i) of them share a link, by
  // halves of the ring for i = 4.
  const Collective shift_call = named(operations::alltoall, "shift");
  const ScheduleReport report = check_steps(shift_call, Topology::parse("ring:8"), 100);
  REQUIRE(report.startups == 7);
  Bytes contended = 0;
  for (std::size_t step = 0; step < 7; ++step) {
    CHECK(report.per_step[step].largest == 100);
    CHECK(report.per_step[step].cost == 100 * static_cast<Bytes>(report.per_step[step].link_load));
    contended += report.per_step[step].cost;
  }
  CHECK(report.contended == contended);
  CHECK(static_cast<double>(contended) ==
        100 * *shift_call.predict(Topology::parse("ring:8")).link_blocks);
}

// Where nodes share cores, one that fills or compares its buffers keeps others from ending the call
// that is timed.
TEST_CASE("no node fills its buffers for the verified call while another is in the call before",
          "[harness]") {
  static std::atomic<int> in_call{0}, filled_meanwhile{0}, calls{0};
  in_call = filled_meanwhile = calls = 0;
  static const Algorithm& doubling = find_algorithm(operations::allreduce, "recursive-doubling");
  Algorithm watched = doubling;
  watched.program = [](Node& node, const Call& call) {
    node.local([&] { ++in_call, ++calls; });
    doubling.program(node, call);
    node.local([&] { --in_call; });
  };
  Arguments arguments;
  arguments.reduction = find_reduction("sum", "int64");
  arguments.reduction.operands = [inner = arguments.reduction.operands](std::uint64_t stream,
                                                                        Span data) {
    if (in_call != 0) ++filled_meanwhile;
    inner(stream, data);
  };
  for (const ExecutorKind executor : {ExecutorKind::fibers, ExecutorKind::threads}) {
    Machine machine(Topology::parse("hypercube:4"),
                    {.executor = executor, .workers = executor == ExecutorKind::fibers ? 1 : 0});
    CollectiveRun run;
    run.block_bytes = 4096;
    run.iterations = 3;
    CHECK(run_collective(machine, Collective(watched, arguments), run).wrong == 0U);
  }
  CHECK(calls == 2 * 16 * 4);
  CHECK(filled_meanwhile == 0);
}
