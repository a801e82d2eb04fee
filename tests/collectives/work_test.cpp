// The choice by work: what counts as work, and that the least is picked.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/choose/work.hpp"

#include "wormcube/collectives/choose/ranking.hpp"
#include "wormcube/collectives/core/operations.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/contract.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;

namespace {

Schedule recorded(const Collective& collective, const Topology& topology, Bytes block_bytes) {
  return record(
      topology,
      collective_program(collective,
                         contract_of(collective, topology.nodes(), block_bytes, 1, Pattern::tags),
                         nullptr),
      collective.name());
}

}  // namespace

TEST_CASE("work of a message, of its links, pieces and bytes, and of steps, counted by hand") {
  const Topology line = Topology::parse("line:3");
  const Routing routing(line);
  // Node 0 sends 16 bytes over one link to each of the others in turn: of 1 and of 2 links. Each
  // node takes two steps.
  const Collective naive = parse_collective(parse_operation("broadcast"), "naive");
  const Schedule schedule = recorded(naive, line, 16);
  CHECK(schedule.pieces == std::vector<std::uint64_t>{2, 1, 1});
  const double fixed =
      2 * work_of_message + 3 * work_of_link + 6 * work_of_step + 4 * work_of_piece;
  CHECK(work_of(schedule, routing, 16, 16) == fixed + 2 * 16);
  CHECK(work_of(schedule, routing, 16, 1600) == fixed + 2 * 1600);
}

TEST_CASE("short blocks that are picked up one by one, or rearranged, are work") {
  const Topology ring = Topology::parse("ring:4");
  const Routing routing(ring);
  // Both send each block twice at most, in two messages of a node.
  const Operation alltoall = parse_operation("alltoall");
  const Collective bruck = parse_collective(alltoall, "bruck"),
                   combining = parse_collective(alltoall, "hypercube-combine");
  const Schedule picked = recorded(bruck, ring, 8), moved = recorded(combining, ring, 8);
  const auto pieces = [](const Schedule& schedule) {
    return std::accumulate(schedule.pieces.begin(), schedule.pieces.end(), std::uint64_t{0});
  };
  CHECK(pieces(picked) == 4 * 2 * 2 * 2);  // two blocks are a message, at both ends
  CHECK(pieces(moved) < pieces(picked));
  Schedule still = moved;
  double blocks = 0;
  for (RankLog& log : still.ranks) {
    const GapBytes rearranged = std::exchange(log.rearranged, {});
    for (const auto& [gap, bytes] : rearranged.filled()) blocks += static_cast<double>(bytes) / 8;
  }
  CHECK(blocks > 0);
  CHECK(work_of(moved, routing, 8, 8) ==
        Approx(work_of(still, routing, 8, 8) + blocks * (work_of_piece + 8)));
}

TEST_CASE("a message by moves, what is combined, and blocks of a byte or of none are work") {
  const Topology ring = Topology::parse("ring:4");
  const Routing routing(ring);
  // Node 0 sends 16 bytes the long way round, over 3 links. Each node combines 10 bytes before its
  // only step, and node 2 rearranges 6.
  const Schedule schedule = record(ring, [](Node& node) {
    const Memory memory = node.memory(16);
    node.combine(10, [] {});
    if (node.rank() == 2) node.rearrange(6, [] {});
    if (node.rank() == 0) return node.step({send(Move{0, 3}, memory)});
    if (node.rank() == 3) return node.step({receive(Move{0, -3}, memory)});
    node.step();
  });
  const double fixed = work_of_message + 3 * work_of_link + 4 * work_of_step;
  constexpr double bytes = 16 + 4 * 10 * work_of_combined_byte + 6;
  for (const auto& [unit, blocks] : {std::pair<Bytes, Bytes>{3, 2}, {2, 3}, {1, 6}, {0, 6}}) {
    const double times = unit == 0 ? 1 : static_cast<double>(unit);
    CHECK(work_of(schedule, routing, unit, 60) ==
          fixed + static_cast<double>((2 + blocks) * work_of_piece) + bytes * 60 / times);
  }
}

TEST_CASE("of calls that are too long to count each node's formulas are taken, if there are any") {
  const Topology ring = Topology::parse("ring:4");
  static Prediction said;
  Algorithm algorithm = find_algorithm(parse_operation("allreduce"), "ring");
  algorithm.predict = [](const Setting&) { return said; };
  Arguments arguments;
  arguments.reduction = find_reduction("sum", "int64");
  const auto work = [&](const Prediction& prediction) {
    said = prediction;
    return work_of(Collective(algorithm, arguments), Routing(ring), 100);
  };
  constexpr double startups = (1 << 15) + 1;  // 4 messages too many
  constexpr double of_startup = 8192 + 128 + 512 + 2 * 192;
  CHECK(work({.startups = startups, .transmission_blocks = 5}) ==
        4 * (startups * of_startup + 5 * 100));
  CHECK(work({.startups = startups,
              .transmission_blocks = 5,
              .rearranged_blocks = 3,
              .combined_blocks = 2}) ==
        4 * (startups * of_startup + 3 * 192 + (5 + 3 + 2 * 3) * 100));
  CHECK(work({.startups = startups}) == std::nullopt);
  CHECK(work({.transmission_blocks = 5}).has_value());  // unknown start-ups: it is counted
}

TEST_CASE("of calls of equal work the cheapest by formula is taken") {
  const Topology pair = Topology::parse("ring:2");
  const Operation alltoall = parse_operation("alltoall");
  std::vector<std::pair<double, std::string>> works;
  for (const Priced& priced :
       ranking({.operation = alltoall, .topology = pair, .block_bytes = 64})) {
    if (!is_chosen_by_auto(*priced.collective.algorithm)) continue;
    const auto work = work_of(priced.collective, Routing(pair), 64);
    if (work) works.emplace_back(*work, priced.collective.text());
  }
  REQUIRE_FALSE(works.empty());
  const auto work = &std::pair<double, std::string>::first;
  const auto least = std::ranges::min_element(works, {}, work);  // the first of them
  REQUIRE(std::ranges::count(works, least->first, work) > 1);
  CHECK(least_work({.operation = alltoall, .topology = pair, .block_bytes = 64}).text() ==
        least->second);
}

TEST_CASE("the choice by work is the least of what dry runs of the whole call count") {
  for (const Topology& topology : {Topology::parse("torus:4x4"), Topology::parse("hypercube:4"),
                                   Topology::parse("mesh:3x5")}) {
    const Routing routing(topology);
    for (const std::string_view name :
         {"broadcast", "reduce", "allgather", "allreduce", "reduce_scatter", "alltoall", "scan"}) {
      for (const Bytes bytes : {Bytes{960}, Bytes{960 * 64}}) {
        CAPTURE(topology.name(), name, bytes);
        const Operation asked = parse_operation(name);
        Arguments arguments;
        if (asked->reduces) arguments.reduction = find_reduction("sum", "double");
        const Collective chosen = least_work({.operation = asked,
                                              .topology = topology,
                                              .block_bytes = bytes,
                                              .arguments = arguments});
        const double work = work_of(recorded(chosen, topology, bytes), routing, bytes, bytes);
        for (const Priced& other : ranking({.operation = asked,
                                   .topology = topology,
                                   .block_bytes = bytes,
                                   .arguments = arguments})) {
          if (!is_chosen_by_auto(*other.collective.algorithm)) continue;
          CAPTURE(chosen.text(), other.collective.text());
          // Blocks that do not divide evenly are counted as if they did.
          CHECK(work <=
                1.02 * work_of(recorded(other.collective, topology, bytes), routing, bytes, bytes));
        }
      }
    }
  }
}

TEST_CASE("long exchanges are weighed by formula, and the choice still runs") {
  const Topology topology = Topology::parse("torus:20x20");
  const Collective chosen = least_work(
      {.operation = parse_operation("alltoall"), .topology = topology, .block_bytes = 64});
  // 399 messages of each node are the most that anything takes; combining ones need some ten.
  CHECK(*chosen.predict(topology).startups < 100);
  const Collective of_long = least_work(
      {.operation = parse_operation("alltoall"), .topology = topology, .block_bytes = 1 << 20});
  CHECK(*of_long.predict(topology).startups >= 399);
}

TEST_CASE("exchanges of short blocks send their blocks in runs") {
  // bine and bruck send the fewest bytes in the fewest messages, of blocks that lie apart.
  const Topology topology = Topology::parse("torus:16x16");
  const Collective chosen = least_work(
      {.operation = parse_operation("alltoall"), .topology = topology, .block_bytes = 8});
  CAPTURE(chosen.text());
  CHECK(chosen.name() != "bine");
  CHECK(chosen.name() != "bruck");
}
