// Checking a collective: counts, comparisons, verdicts and proofs, with exact numbers and texts.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/check.hpp"

#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/judge.hpp"
#include "wormcube/collectives/harness/weigh.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/tests/collectives/built_in.hpp"
#include "wormcube/tests/collectives/cases.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

/// An alltoall on a ring of 4 that takes one step: each node's two blocks to the node opposite, two
/// hops on. It holds five blocks, permutes two and combines one.
Algorithm one_step() {
  Algorithm algorithm = find_algorithm(operations::alltoall, "shift");
  algorithm.predict = [](const Setting&) { return Prediction{}; };
  algorithm.bound = [](const Setting&, Ports) { return LowerBound{}; };
  algorithm.program = [](Node& node, const Call& call) {
    const Bytes m = call.input.bytes();
    const Memory held = node.memory(5 * m, Purpose::blocks);
    node.rearrange(2 * m, [] {});
    node.step(
        {send(Move{0, 2}, call.input.range(0, 2)), receive(Move{0, -2}, held.subspan(0, 2 * m))});
    node.combine(m, [] {});
  };
  return algorithm;
}

const CheckOptions unproved{.prove_up_to = 3};

CheckResult check_on_ring(const Algorithm& algorithm, const CheckOptions& options = unproved) {
  return check_collective(Collective(algorithm), Topology::parse("ring:4"), options);
}

}  // namespace

TEST_CASE("a check counts in blocks and describes its call", "[collectives]") {
  const CheckResult result = check_on_ring(one_step());
  CHECK(result.failures == std::vector<std::string>{"combined: counted 1, the formula says 0"});
  CHECK(result.topology == "ring:4");
  CHECK(result.nodes == 4);
  CHECK(result.block_bytes == 8);
  CHECK_FALSE(result.all_port);
  CHECK(result.report.startups == 1);
  CHECK(result.transmission_blocks == 2);
  CHECK(result.link_blocks == 4);
  CHECK(result.rearranged_blocks == 2);
  CHECK(result.combined_blocks == 1);
  CHECK(result.total_blocks == 8);
  CHECK(result.block_hops == 16);
  CHECK(result.working_blocks == 5);
  CHECK(result.peak_blocks == 5);
  CHECK(check_on_ring(one_step(), {.all_port = true, .prove_up_to = 3}).all_port);
}

TEST_CASE("the most blocks that a node holds are those of the largest result, if that is more",
          "[collectives]") {
  const auto peak = [](Operation operation, const char* name) {
    const CheckResult result =
        check_collective(Collective(find_algorithm(operation, name)), Topology::parse("ring:4"));
    CHECK(result.passed());
    return result.peak_blocks;
  };
  CHECK(peak(operations::alltoall, "shift") == 4);
  CHECK(peak(operations::gather, "halving") == 4);  // of node 0 alone
  CHECK(peak(operations::barrier, "tree") == 0);
}

TEST_CASE("each broken law and each wrong formula is reported with its numbers", "[collectives]") {
  Algorithm wrong = one_step();
  wrong.contention_free = true;
  wrong.predict = [](const Setting&) {
    return Prediction{.startups = 7,
                      .transmission_blocks = 7,
                      .rearranged_blocks = 7,
                      .working_blocks = 7,
                      .link_load = 7,
                      .link_blocks = 7};
  };
  CHECK(check_on_ring(wrong).failures ==
        std::vector<std::string>{"a link carries 2 messages in one step, but the source claims 1",
                                 "start-ups: counted 1, the formula says 7",
                                 "transmission: counted 2, the formula says 7",
                                 "rearrangement: counted 2, the formula says 7",
                                 "combined: counted 1, the formula says 0",
                                 "with contention: counted 4, the formula says 7",
                                 "working blocks: counted 5, the formula says 7",
                                 "link load: counted 2, the formula says 7",
                                 "step 0: link 0->1 carries 2 messages: 0 to 2, 3 to 1"});

  // Two messages out of one node in a step; one of them has no partner.
  wrong = one_step();
  wrong.program = [](Node& node, const Call& call) {
    if (node.rank() == 0) {
      node.step({send(1, call.input[1]), send(3, call.input[3])});
    } else if (node.rank() == 1) {
      node.step({receive(0, call.output[0])});
    } else {
      node.step();
    }
  };
  const CheckResult result = check_on_ring(wrong);
  REQUIRE(result.failures.size() == 4);
  CHECK(result.failures[0] == "1 sends and receives without a partner");
  CHECK(result.failures[1] == "a port is used twice in one step (1 times)");
  CHECK(std::vector(result.failures.begin() + 2, result.failures.end()) == result.report.problems);
}

TEST_CASE("a formula that is off by one is found, whichever of whichever algorithm",
          "[collectives][mutants]") {
  const std::pair<const char*, std::optional<double> Prediction::*> figures[] = {
      {"start-ups", &Prediction::startups},
      {"transmission", &Prediction::transmission_blocks},
      {"rearrangement", &Prediction::rearranged_blocks},
      {"combined", &Prediction::combined_blocks},
      {"with contention", &Prediction::link_blocks},
      {"working blocks", &Prediction::working_blocks},
      {"hops", &Prediction::hops},
      {"link load", &Prediction::link_load}};
  std::vector<Topology> topologies = cases::topologies();
  std::erase_if(topologies, [](const Topology& each) { return each.nodes() < 4; });
  std::ranges::stable_sort(topologies, {}, &Topology::nodes);
  topologies.insert(topologies.begin(), {Topology::parse("torus:4x4"), Topology::parse("ring:9")});
  topologies.push_back(Topology::parse("torus:5x5"));
  std::size_t mutants = 0;
  for (const Algorithm* const algorithm : cases::built_in()) {
    Collective collective(*algorithm, cases::plain_arguments(*algorithm));
    std::optional<Topology> topology;
    for (const bool commutes : {false, true}) {  // some forms need it, others do not
      if (commutes && algorithm->operation->reduces && !topology) {
        collective.arguments.reduction = find_reduction("sum", "int32");
      }
      for (const Topology& each : topologies) {
        if (!topology && !refusal(collective, each)) topology = each;
      }
    }
    CAPTURE(algorithm->name, algorithm->operation->name);
    REQUIRE(topology);
    CheckResult right =
        check_collective(collective, *topology, {.all_port = algorithm->ports == Ports::all});
    REQUIRE(right.failures.empty());
    for (const auto& [name, figure] : figures) {
      if (!(right.predicted.*figure)) continue;
      CheckResult mutant = right;
      *(mutant.predicted.*figure) += 1;
      judge(mutant);
      REQUIRE(mutant.failures.size() == 1);
      CHECK_THAT(mutant.failures.front(), StartsWith(name));
      ++mutants;
    }
  }
  CHECK(mutants > 4 * registry().size());
}

TEST_CASE("one message on each link is what a claim of freedom from contention says",
          "[collectives]") {
  const Algorithm& claims = find_algorithm(operations::alltoall, "suh-torus");
  REQUIRE(claims.contention_free);
  const CheckResult result = check_collective(Collective(claims), Topology::parse("torus:4x4"));
  CHECK(result.report.link_load_max == 1);
  CHECK(result.failures == std::vector<std::string>{});
}

TEST_CASE("a count may differ from its formula by a millionth, and from a bound", "[collectives]") {
  Algorithm algorithm = one_step();
  static double formula, bound;
  algorithm.program = [](Node&, const Call&) {};
  algorithm.predict = [](const Setting&) { return Prediction{.rearranged_blocks = formula}; };
  algorithm.bound = [](const Setting&, Ports) {
    return LowerBound{.startups = bound, .transmission_blocks = bound, .source = "a test"};
  };
  formula = bound = 1e-6;
  CHECK(check_on_ring(algorithm).failures == std::vector<std::string>{});
  formula = bound = 2e-6;
  CHECK(check_on_ring(algorithm).failures ==
        std::vector<std::string>{
            "rearrangement: counted 0, the formula says 2e-06",
            "start-ups: counted 0, fewer than the bound 2e-06, a test",
            "transmission with contention: counted 0, fewer than the bound 2e-06, a test"});
  formula = -2e-6;
  bound = 0;
  CHECK(check_on_ring(algorithm).failures ==
        std::vector<std::string>{"rearrangement: counted 0, the formula says -2e-06"});
  algorithm.predict = [](const Setting&) { return Prediction{}; };
  algorithm.bound = [](const Setting&, Ports) {
    return LowerBound{.startups = 5, .exact = Rational(1, 2)};
  };
  CHECK(check_on_ring(algorithm).failures ==
        std::vector<std::string>{"start-ups: counted 0, fewer than the bound 1/2"});
}

TEST_CASE(
    "a bound on steps is met where it is the count, and no count is better where it is rounded",
    "[collectives]") {
  CheckResult result;
  result.report.startups = 3;
  const auto met_and_optimal = [&](std::optional<Rational> exact) {
    result.lower_bound.exact = exact;
    return std::pair(result.bound_met(), result.optimal());
  };
  CHECK(met_and_optimal(Rational(3)) == std::pair(std::optional(true), std::optional(true)));
  CHECK(met_and_optimal(Rational(5, 2)) == std::pair(std::optional(false), std::optional(true)));
  CHECK(met_and_optimal(Rational(2)) == std::pair(std::optional(false), std::optional(false)));
  CHECK(met_and_optimal(std::nullopt) == std::pair<std::optional<bool>, std::optional<bool>>());
}

TEST_CASE("any formula is one, but of what is combined only where that is not none by itself",
          "[collectives]") {
  const auto has_formulas = [](const Prediction& prediction,
                               Operation operation = operations::alltoall,
                               const char* name = "shift") {
    CheckResult result;
    result.collective = Collective(find_algorithm(operation, name));
    result.predicted = prediction;
    return result.has_formulas();
  };
  CHECK(has_formulas({.startups = 0}));
  CHECK(has_formulas({.transmission_blocks = 0}));
  CHECK(has_formulas({.rearranged_blocks = 0}));
  CHECK(has_formulas({.working_blocks = 0}));
  CHECK(has_formulas({.link_load = 0}));
  CHECK(has_formulas({.link_blocks = 0}));
  CHECK(has_formulas({.combined_blocks = 0}, operations::allreduce, "ring"));
  CHECK_FALSE(has_formulas({.combined_blocks = 0}));
  CHECK_FALSE(has_formulas({}, operations::allreduce, "ring"));
}

TEST_CASE("as many nodes as asked for are proved, and of more is said how many", "[collectives]") {
  const Algorithm& shift = find_algorithm(operations::alltoall, "shift");
  const CheckResult proved = check_on_ring(shift, {.prove_up_to = 4});
  CHECK(proved.delivered == true);
  CHECK(proved.proof == "proved by a run with blocks that are labelled with their origin");
  CHECK(proved.arrivals == "each node's arrivals were counted, block by block");
  const CheckResult result = check_on_ring(shift, {.prove_up_to = 3});
  CHECK(result.proof == "not proved: 4 nodes; the limit for proofs is 3 (--prove-up-to)");
  CHECK(result.arrivals == result.proof);
  CHECK_FALSE(result.verdict().has_value());
}

TEST_CASE("blocks of several sizes are counted in a call's own, as they are weighed",
          "[collectives]") {
  std::mt19937 random(51);  // NOLINT: the same each time
  std::vector<const Algorithm*> uneven;
  for (const Algorithm* const algorithm : registry()) {
    if (algorithm->operation->sizes != Sizes::equal) uneven.push_back(algorithm);
  }
  int counted = 0;
  for (const char* const network : {"ring:5", "line:4", "mesh:2x3", "hypercube:3", "torus:3x3",
                                    "complete:6", "tree:8", "line:1"}) {
    const Topology topology = Topology::parse(network);
    for (const Algorithm* const algorithm : uneven) {
      Arguments arguments;
      if (algorithm->operation->reduces) arguments.reduction = find_reduction("sum", "int32");
      if (algorithm->operation->rooted)
        arguments.root = static_cast<Rank>(random() % static_cast<unsigned>(topology.nodes()));
      const Collective call(*algorithm, arguments);
      if (refusal(call, topology)) continue;
      for (const Bytes most : {Bytes{4}, Bytes{64}, Bytes{4000}}) {
        const Bytes block = random() % (most / 4 + 1) * 4;
        INFO(call.operation()->name << " " << call.name() << " on " << network << ", " << block);
        const CheckResult result = check_collective(
            call, topology, {.all_port = algorithm->ports == Ports::all, .block_bytes = block});
        CHECK(result.failures == std::vector<std::string>{});
        CHECK(result.delivered == true);
        const Contract contract = contract_of(call, topology.nodes(), block, 1);
        const Schedule schedule = record(topology, collective_program(call, contract, nullptr));
        CHECK(result.report.messages == schedule.messages());
        Bytes largest = 0;
        for (std::size_t step = 0; step < schedule.steps(); ++step) {
          Bytes of_step = 0;
          for (Rank rank = 0; rank < topology.nodes(); ++rank) {
            for (const OpRecord& op : schedule.ops(rank, step))
              of_step = std::max(of_step, op.bytes);
          }
          largest += of_step;
        }
        const double blocks = static_cast<double>(largest) / std::max(1.0, double(block));
        CHECK(result.transmission_blocks == blocks);
        const Weighed weighed = weigh(call, topology, block);
        CHECK(weighed.prediction.transmission_blocks == result.transmission_blocks);
        CHECK(weighed.prediction.link_blocks == result.link_blocks);
        CHECK(weighed.prediction.rearranged_blocks == result.rearranged_blocks);
        CHECK(weighed.prediction.combined_blocks.value_or(0) == result.combined_blocks);
        ++counted;
      }
    }
  }
  CHECK(counted > 300);
}

TEST_CASE("algorithms that need a commutative operator are proved with one", "[collectives]") {
  const Algorithm& reorders = find_algorithm(operations::reduce_scatter, "circulant");
  REQUIRE(reorders.needs_commutative);
  const CheckResult result = check_collective(Collective(reorders), Topology::parse("ring:5"));
  CHECK(result.delivered == true);
  CHECK(result.arrivals == "each node's arrivals were counted, combination by combination");
  CHECK(result.failures == std::vector<std::string>{});
}

TEST_CASE("memory of a proof", "[collectives]") {
  const Contract contract = contract_of(Collective(find_algorithm(operations::alltoall, "shift")),
                                        4, 16, 1, Pattern::tags);
  // Beside its memory and plans: 16 blocks of two tags each that may come to each node, a bit for
  // each, and 5 KiB. Blocks of one size need no table of offsets.
  CHECK(bytes_to_prove({.nodes = 1000, .plans = 100}, contract, 0) ==
        1000 + 100 + 4 * 16 * 2 / 8 + 4 * 5120);
}

namespace {

/// A broadcast from node 0 to all others, one after the other.
template <class Send, class Receive>
void one_after_the_other(Node& node, Send send_to, Receive receive_it) {
  for (Rank q = 1; q < node.size(); ++q) {
    if (node.rank() == 0) {
      send_to(q);
    } else if (node.rank() == q) {
      receive_it();
    } else {
      node.step();
    }
  }
}

Algorithm broadcast_of(void (*program)(Node&, const Call&)) {
  Algorithm algorithm = find_algorithm(operations::broadcast, "binomial");
  algorithm.predict = [](const Setting&) { return Prediction{}; };
  algorithm.program = program;
  return algorithm;
}

}  // namespace

TEST_CASE("a schedule shows whether no node hears a broadcast twice", "[collectives]") {
  const CheckResult once = check_on_ring(broadcast_of([](Node& node, const Call& call) {
    const Span message = call.output.all();
    one_after_the_other(
        node, [&](Rank q) { node.step({send(q, message)}); },
        [&] { node.step({receive(0, message)}); });
  }));
  CHECK(once.delivered == true);
  CHECK(once.exactly_once == true);
  CHECK(once.proof == once.arrivals);
  CHECK(once.passed());
  Algorithm again = broadcast_of([](Node& node, const Call& call) {
    const Span message = call.output.all();
    for (int i = 0; i < 2; ++i) {
      one_after_the_other(
          node, [&](Rank q) { node.step({send(q, message)}); },
          [&] { node.step({receive(0, message)}); });
    }
  });
  again.exactly_once = true;
  const CheckResult twice = check_on_ring(again);
  CHECK(twice.delivered == true);
  CHECK(twice.exactly_once == false);
  CHECK(twice.failures == std::vector{"not exactly once: " + twice.proof});
}

TEST_CASE(
    "a broadcast of the message in pieces, or that permutes it, is counted and not proved by its "
    "schedule",
    "[collectives]") {
  const CheckResult pieces = check_on_ring(broadcast_of([](Node& node, const Call& call) {
    const Span message = call.output.all();
    const std::array<Span, 2> halves{message.first(4), message.last(4)};
    one_after_the_other(
        node, [&](Rank q) { node.step({send_pieces(q, halves)}); },
        [&] { node.step({receive_pieces(0, halves)}); });
  }));
  CHECK(pieces.transmission_blocks == 3);
  CHECK_FALSE(pieces.delivered.has_value());
  CHECK_THAT(pieces.proof,
             StartsWith("not proved: the schedule delivers messages of the right size"));

  const CheckResult permuted = check_on_ring(broadcast_of([](Node& node, const Call& call) {
    const Span message = call.output.all();
    node.rearrange(3 * message.size(), [] {});
    one_after_the_other(
        node, [&](Rank q) { node.step({send(q, message)}); },
        [&] { node.step({receive(0, message)}); });
  }));
  CHECK(permuted.rearranged_blocks == 3);
  CHECK_FALSE(permuted.delivered.has_value());
}

TEST_CASE("a check of a network too large to route in is refused before any dry run",
          "[collectives]") {
  std::vector<std::pair<Rank, Rank>> edges;
  for (Rank r = 0; r < 9000; ++r) edges.emplace_back(r, (r + 1) % 9000);
  const Topology large({Graph::arbitrary(9000, edges, "long ring")});
  static std::atomic<bool> ran;
  ran = false;
  Algorithm watched = find_algorithm(operations::barrier, "tree");
  watched.program = [](Node&, const Call&) { ran = true; };
  CHECK_THROWS_WITH(check_collective(Collective(watched), large),
                    StartsWith("long ring: 9000 nodes and 18000 links; ") &&
                        Contains("messages are routed in graphs of up to 8192 nodes"));
  CHECK_FALSE(ran);
}

TEST_CASE("an algorithm of a name and a program is checked, and needs a source to be added",
          "[collectives]") {
  static const Algorithm bare{
      .operation = operations::allgather,
      .name = "bare",
      .program = [](Node& node, const Call& call) {
        const Rank p = node.size(), r = node.rank();
        node.local([&] { copy(call.input[0], call.output[r]); });
        for (Rank t = 1; t < p; ++t) {
          const Rank from = mod(r - t, p);
          node.step({send(mod(r + t, p), call.input[0]), receive(from, call.output[from])});
        }
      }};
  const CheckResult result = check_collective(Collective(bare), Topology::parse("ring:5"));
  CHECK(result.passed());
  CHECK(result.report.startups == 4);
  CHECK_THROWS_WITH(add_algorithm(bare, "test"), Contains("has no summary"));
}
