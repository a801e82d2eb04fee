// How algorithms are ranked: which contention is known, from where, and what is left out.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/choose/comparison.hpp"
#include "wormcube/collectives/choose/contest.hpp"
#include "wormcube/collectives/choose/measured.hpp"
#include "wormcube/collectives/choose/ranking.hpp"
#include "wormcube/collectives/choose/work.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

/// Shift, which every network admits, with formulas of the test's own.
Prediction said_of_shift;
Algorithm shift_of_which_is_said() {
  Algorithm shift = find_algorithm(operations::alltoall, "shift");
  shift.contention_free = false;
  shift.predict = [](const Setting&) { return said_of_shift; };
  return shift;
}

}  // namespace

TEST_CASE("a dry run counts contention of up to 2^17 messages that can be routed") {
  const Topology ring = Topology::parse("ring:4");
  const Collective shift(find_algorithm(operations::alltoall, "shift"));
  const auto seven = [](const Schedule&, Bytes) { return 7.0; };
  CHECK(counted(shift, ring, 1 << 15, 8, seven) == 7);
  CHECK_FALSE(counted(shift, ring, (1 << 15) + 0.25, 8, seven));
  const auto line_as_graph = [](Rank nodes) {
    std::vector<std::pair<Rank, Rank>> edges;
    for (Rank rank = 1; rank < nodes; ++rank) edges.emplace_back(rank - 1, rank);
    return Topology({Graph::arbitrary(nodes, edges, "a line")});
  };
  const Collective barrier(find_algorithm(operations::barrier, "dissemination"));
  CHECK(counted(barrier, line_as_graph(4), 2, 8, seven) == 7);
  CHECK_FALSE(counted(barrier, line_as_graph(8193), 14, 8, seven));
}

TEST_CASE("a dry run that weighs has the uneven sizes of the call") {
  const Topology ring = Topology::parse("ring:4");
  const Collective shift(find_algorithm(operations::alltoallv, "shift"));
  const Contract contract = contract_of(shift, 4, 100, CheckOptions().seed, Pattern::words);
  const Schedule of_call = record(ring, collective_program(shift, contract, nullptr));
  CHECK(counted(shift, ring, 3, 100, [&](const Schedule& schedule, Bytes bytes) {
          return schedule == of_call && bytes == 100 ? 1.0 : 0.0;
        }) == 1);
}

TEST_CASE("contention is modelled, claimed to be absent, counted, or unknown") {
  const Topology ring = Topology::parse("ring:4");
  Algorithm shift = shift_of_which_is_said();
  const auto weighed = [&](const Prediction& prediction) {
    said_of_shift = prediction;
    const Weighed found = weigh(Collective(shift), ring);
    return std::pair(found.contention, found.prediction.link_blocks);
  };
  using Found = std::pair<Contention, std::optional<double>>;
  CHECK(weighed({.link_blocks = 9}) == Found{Contention::formula, 9});
  CHECK(weighed({.startups = 3}) == Found{Contention::counted, 4});
  CHECK(weighed({.transmission_blocks = 3}) == Found{Contention::counted, 4});
  // Between opposite nodes two messages share a link: 1 + 2 + 1.
  CHECK(weighed({.startups = 3, .transmission_blocks = 3}) == Found{Contention::counted, 4});
  CHECK(weighed({.startups = 3, .transmission_blocks = 1}) == Found{Contention::counted, 4});
  CHECK(weighed({.startups = 3, .transmission_blocks = 0}) == Found{Contention::none, 0});
  CHECK(weighed({.startups = 1e9, .transmission_blocks = 3}) == Found{Contention::unknown, {}});
  shift.contention_free = true;
  CHECK(weighed({.startups = 3, .transmission_blocks = 3}) == Found{Contention::none, 3});
}

TEST_CASE("known times stand before bounds, and bounds before nothing") {
  using enum Contention;
  CHECK(standing(9, counted) < standing(1, unknown));
  CHECK(standing(9, formula) < standing(10, none));
  CHECK(standing(1, unknown) < standing(2, unknown));
  CHECK(standing(2, unknown) < standing(std::nullopt, unknown));
}

TEST_CASE("a broadcast whose contention is unknown does not win over one that is known") {
  const auto network = GENERATE("mesh:64x64", "torus:64x64");
  const Topology topology = Topology::parse(network);
  const auto ranked = ranking(
      {.operation = operations::broadcast, .topology = topology, .block_bytes = Bytes{1} << 20});
  REQUIRE(!ranked.empty());
  CHECK(ranked.front().collective.name() == "scatter-allgather");
  CHECK(ranked.front().weighed.contention != Contention::unknown);
  const auto unknown = std::ranges::find(
      ranked, "circulant", [](const Priced& priced) { return priced.collective.name(); });
  REQUIRE(unknown != ranked.end());
  CHECK(unknown->weighed.contention == Contention::unknown);
  CHECK(unknown->us < ranked.front().us);
}

TEST_CASE("routes of all pairs are walked on networks with failed links of up to 1024 nodes") {
  const Collective pairwise(find_algorithm(operations::alltoall, "hypercube-pairwise"));
  const auto contention = [&](const char* network) {
    return weigh(pairwise, Topology::parse(network)).contention;
  };
  CHECK(contention("torus:32x32~0-1") == Contention::formula);
  CHECK(contention("torus:32x64~0-1") == Contention::unknown);
}

TEST_CASE("weights ask each collective once") {
  static int asked = 0;
  Algorithm shift = shift_of_which_is_said();
  shift.predict = [](const Setting&) {
    ++asked;
    return Prediction{.startups = 3, .transmission_blocks = 3};
  };
  const Topology ring = Topology::parse("ring:4");
  Weights weights(ring, false);
  const Collective collective(shift);
  CHECK(weights(collective).prediction.link_blocks == 4);
  CHECK(weights(collective).contention == Contention::counted);
  CHECK(asked == 1);
}

TEST_CASE("algorithms that need more ports or an order of their own are not ranked") {
  const auto ranked = [](const char* operation, const char* network, Ports ports) {
    std::vector<const Algorithm*> algorithms;
    for (const Priced& priced : ranking({.operation = parse_operation(operation),
                                .topology = Topology::parse(network),
                                .block_bytes = 64,
                                .ports = ports})) {
      algorithms.push_back(priced.collective.algorithm);
    }
    return algorithms;
  };
  const auto has = [](const std::vector<const Algorithm*>& algorithms, Operation operation,
                      std::string_view name) {
    return std::ranges::count(algorithms, &find_algorithm(operation, name)) == 1;
  };
  const auto of_one = ranked("alltoall", "hypercube:3", Ports::one),
             of_all = ranked("alltoall", "hypercube:3", Ports::all);
  CHECK(has(of_one, operations::alltoall, "shift"));
  CHECK_FALSE(has(of_one, operations::alltoall, "hypercube-all-port"));
  CHECK(has(of_all, operations::alltoall, "shift"));
  CHECK(has(of_all, operations::alltoall, "hypercube-all-port"));
  const Topology torus = Topology::parse("torus:5x5");
  REQUIRE_FALSE(refusal(Collective(find_algorithm(operations::broadcast, "park")), torus));
  CHECK_FALSE(has(ranked("broadcast", "torus:5x5", Ports::all), operations::broadcast, "park"));
}

TEST_CASE("algorithms with unknown contention and no known time are ranked last") {
  // Its dry run is refused. Runs nowhere later: the registry keeps it.
  static bool open = false;
  static const Algorithm unknown{.operation = operations::barrier,
                                 .name = "test-unknown",
                                 .summary = "with a dry run that is refused",
                                 .source = "a test",
                                 .require =
                                     [](const Setting&) {
                                       if (!open) throw UsageError("test-unknown: closed");
                                     },
                                 .predict =
                                     [](const Setting&) {
                                       return Prediction{.startups = 0,
                                                         .transmission_blocks = 1,
                                                         .rearranged_blocks = 0,
                                                         .working_blocks = 0};
                                     },
                                 .program = [](Node&, const Call&) { throw UsageError("no"); }};
  static const bool added = (add_algorithm(unknown, "a test"), true);
  CHECK(added);
  open = true;
  const auto ranked = ranking(
      {.operation = operations::barrier, .topology = Topology::parse("ring:4"), .block_bytes = 0});
  open = false;
  REQUIRE(ranked.size() > 1);
  CHECK(ranked.back().collective.name() == "test-unknown");
  CHECK(ranked.back().weighed.contention == Contention::unknown);
  CHECK(ranked.back().us == 0);
  CHECK(ranked.front().us > 0);
}

TEST_CASE("the number of segments of an all-reduce on a mesh is the cheapest of those tried") {
  Arguments arguments;
  arguments.reduction = find_reduction("sum", "double");
  const Algorithm& algorithm = find_algorithm(operations::allreduce, "all-port");
  const CostModel model;
  for (const char* const network : {"mesh:8x8", "mesh:3x4", "line:9", "mesh:4x4x4", "torus:4x4"}) {
    const Topology topology = Topology::parse(network);
    Weights weights(topology, false);
    std::int64_t before = 0;
    for (const Bytes bytes : {Bytes{64}, Bytes{1} << 14, Bytes{1} << 20, Bytes{1} << 30}) {
      const auto form = cheapest_form(
          algorithm, {operations::allreduce, topology, bytes, Ports::one, model, arguments},
          weights);
      REQUIRE(form);
      const std::int64_t segments = form->collective.options.number("segments");
      INFO(network << ", " << bytes << " B, " << segments << " segments");
      CHECK(segments >= before);  // longer blocks are cut into more
      before = segments;
      // Each segment cuts the vector into a part for each node and dimension.
      CHECK((segments == 1 ||
             static_cast<Bytes>(form->collective.parts(topology)) * sizeof(double) <= bytes));
      for (std::int64_t n = 1; n <= 256; n *= 2) {
        Collective other(algorithm, arguments);
        other.options.set("segments", std::to_string(n));
        if (refusal(other, topology) ||
            static_cast<Bytes>(other.parts(topology)) * sizeof(double) > bytes)
          continue;
        CHECK(*form->us <= *weights(other, bytes).us(model, bytes));
      }
    }
    CHECK((before > 1) == (std::string_view(network) != "torus:4x4"));
  }
  // The bound is 0.5625, and one segment needs 0.984. More than 64 cost more start-ups than they save.
  const Topology mesh = Topology::parse("mesh:8x8");
  Weights weights(mesh, false);
  const auto ranked = ranking({.operation = operations::allreduce,
                               .topology = weights.topology(),
                               .block_bytes = Bytes{1} << 30,
                               .ports = Ports::all,
                               .model = model,
                               .arguments = arguments},
                              weights);
  CHECK(ranked.front().collective.text() == "all-port:segments=64");
  CHECK(*ranked.front().weighed.prediction.link_blocks < 0.576);
}

TEST_CASE("a program chooses by replay, by work and near the formulas, as the command does",
          "[collectives]") {
  const Topology torus = Topology::parse("torus:4x4");
  const Choice choice{.operation = operations::alltoall, .topology = torus};
  ReplayedTimes times(torus);
  EmulationWork work(torus);
  for (CallFigures* const figures : {static_cast<CallFigures*>(&times),  //
                                     static_cast<CallFigures*>(&work)}) {
    const auto [least, figure] = figures->least(choice);
    REQUIRE(figure);
    const Contest contest =
        contest_of(ranking(choice), choice.block_bytes, choice.ports, figures, nullptr);
    CHECK(contest.winner().collective().text() == least.text());
    CHECK(contest.winner().us == figures->shown(*figure));
    for (const Contestant& each : contest.ranked) {
      if (each.answer && each.answer->figure) CHECK(*each.answer->figure >= *figure);
    }
  }
  CHECK(work.least(choice).collective.text() == least_work(choice).text());
  const std::string near = cheapest_or_near(choice).text();
  NearWinners winners(torus, *machine_of(choice.model));
  const Contest contest =
      contest_of(ranking(choice), choice.block_bytes, choice.ports, nullptr, &winners);
  CHECK(contest.winner().collective().text() == near);
}

TEST_CASE("measured times are those of a run on machines of the library's", "[collectives]") {
  const Topology ring = Topology::parse("ring:4");
  MeasuredTimes times(ring, {.executor = ExecutorKind::fibers}, 1);
  const auto [least, us] =
      times.least({.operation = operations::allgather, .topology = ring, .block_bytes = 8});
  CHECK(us.value_or(0) > 0);
  CHECK_FALSE(refusal(least, ring));
}

TEST_CASE("crossovers of a comparison are exact to an element, and the difference is explained",
          "[collectives]") {
  const Topology cube = Topology::parse("hypercube:4");
  Comparison comparison({.operation = operations::alltoall, .topology = cube},
                        {"hypercube-combine", "hypercube-pairwise"}, nullptr);
  const std::size_t first = fastest_of(comparison.at(1)), last = fastest_of(comparison.at(1 << 20));
  REQUIRE(first != last);
  const auto crossovers = comparison.crossovers(1, 1 << 20, first, last);
  REQUIRE(crossovers.size() == 1);
  const auto& [after, from, before, next, exact] = crossovers.front();
  CHECK(exact);
  CHECK(from == after + 1);
  CHECK(fastest_of(comparison.at(after)) == first);
  CHECK(fastest_of(comparison.at(from)) == last);
  const auto lines = explain(comparison.at(from), from, "formula");
  REQUIRE(lines.size() == 1);
  CHECK(lines.front().find("is the fastest") != std::string::npos);
  CHECK(lines.front().find("takes longer") != std::string::npos);
}
