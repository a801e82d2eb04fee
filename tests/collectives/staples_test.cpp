// The libraries' staples and our all-port algorithms: counts equal their formulas, and refusals.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/aliases.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/replay/replay.hpp"
#include "wormcube/tests/replay/schedules.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

using namespace wormcube;
using Catch::Matchers::Contains;

namespace {

Collective staple(Operation operation, const std::string& algorithm, const char* with = "sum") {
  Arguments arguments;
  if (operation->reduces) {
    arguments.reduction = find_reduction(with, std::string(with) == "sum" ? "int64" : "affine");
  }
  return parse_collective(operation, algorithm, arguments);
}

/// Checked: proved, counts equal to the prediction, and to these.
void counts(Collective collective, const std::string& network, double startups,
            std::optional<double> blocks, Rank root = 0) {
  INFO(network << " " << collective.operation()->name << " " << collective.text());
  collective.arguments.root = root;
  const CheckResult result =
      check_collective(collective, Topology::parse(network),
                       {.all_port = collective.algorithm->ports == Ports::all});
  CHECK(result.failures == std::vector<std::string>{});
  CHECK(result.delivered == true);
  CHECK(static_cast<double>(result.report.startups) == startups);
  if (blocks) CHECK(result.transmission_blocks == Approx(*blocks));
}

std::string refused(Operation operation, const char* algorithm, const char* network,
                    const char* with = "sum") {
  return refusal(staple(operation, algorithm, with), Topology::parse(network)).value_or("");
}

std::vector<Rank> wide_sides(const std::string& network) {
  std::vector<Rank> sides;
  for (const Rank n : Topology::parse(network).sizes()) {
    if (n > 1) sides.push_back(n);
  }
  return sides;
}

/// Counts an all-reduce in segments window by window: in step tau of a window for phase t, copy j
/// scatters at s = n - tau + 1 in its dimension of n nodes, and gathers at s = tau.
void counts_in_windows(const char* network, int segments) {
  const std::vector<Rank> sides = wide_sides(network);
  const auto d = static_cast<int>(sides.size());
  const Rank longest = std::ranges::max(sides);
  const double p = Topology::parse(network).nodes();
  double steps = 0, blocks = 0;
  for (int w = 0; w < segments + d; ++w) {
    for (int t = d - 1; t >= 0; --t) {
      for (int tau = 1; tau <= longest; ++tau) {
        double largest = 0;
        for (int j = 0; j < d; ++j) {
          const auto side = [&](int phase) {
            return sides[static_cast<std::size_t>((j + phase) % d)];
          };
          double bundle = 1;
          for (int before = 0; before < t; ++before) bundle *= side(before);
          const auto is_step = [&](Rank s) { return 1 <= s && s < side(t); };
          const bool scatters = w < segments && is_step(side(t) - tau + 1),
                     gathers = 0 <= w - 1 - t && w - 1 - t < segments && is_step(tau);
          if (scatters || gathers) largest = std::max(largest, bundle);
        }
        steps += largest > 0 ? 1 : 0;
        blocks += largest / (segments * d * p);
      }
    }
  }
  counts(staple(operations::allreduce, fmt::format("all-port:segments={}", segments)), network,
         steps, blocks);
}

constexpr const char* meshes_of_one_side[]{"line:1",   "line:2",     "line:3",      "line:8",
                                           "mesh:3x3", "mesh:4x4",   "mesh:2x2",    "mesh:5x5",
                                           "mesh:1x5", "mesh:3x3x3", "hypercube:4", "mesh:8x8"};
constexpr const char* complete_of_one_side[]{"complete:2", "complete:3", "complete:13", "ghc:4x4",
                                             "ghc:5x5",    "ghc:3x3x3",  "complete:1"};

}  // namespace

TEST_CASE("all-port algorithms take the bound on networks of one kind and side",
          "[collectives][staples]") {
  const auto all = [](const std::string& network, double startups, double blocks) {
    const double p = Topology::parse(network).nodes();
    counts(staple(operations::allgather, "all-port"), network, startups, blocks);
    counts(staple(operations::reduce_scatter, "all-port"), network, startups, blocks);
    counts(staple(operations::allreduce, "all-port"), network, 2 * startups, 2 * blocks / p);
  };
  for (const char* const network : meshes_of_one_side) {
    const std::vector<Rank> sides = wide_sides(network);
    const double p = Topology::parse(network).nodes(), d = static_cast<double>(sides.size());
    all(network, sides.empty() ? 0 : d * (sides[0] - 1), sides.empty() ? 0 : (p - 1) / d);
  }
  for (const char* const network : complete_of_one_side) {
    const std::vector<Rank> sides = wide_sides(network);
    const double p = Topology::parse(network).nodes(), d = static_cast<double>(sides.size());
    const double blocks = sides.empty() ? 0 : (p - 1) / (d * (sides[0] - 1));
    all(network, d, blocks);
    counts(staple(operations::alltoall, "all-port"), network, d, sides.empty() ? 0 : p / sides[0]);
  }
  for (const char* const network : {"torus:3x3", "torus:5x5", "ring:7", "torus:3x3x3"}) {
    const std::vector<Rank> sides = wide_sides(network);
    const double p = Topology::parse(network).nodes(), d = static_cast<double>(sides.size());
    all(network, d * (sides[0] / 2), (p - 1) / (2 * d));
  }
  // Unequal sides: a step lasts as long as its largest message.
  counts(staple(operations::allgather, "all-port"), "mesh:4x8", 14, 23.5);
  for (const char* const network : {"ring:5*line:4", "complete:3*ring:5", "torus:2x8"}) {
    const CheckResult result = check_collective(staple(operations::allreduce, "all-port"),
                                                Topology::parse(network), {.all_port = true});
    CHECK(result.failures == std::vector<std::string>{});
    CHECK(result.delivered == true);
  }
}

TEST_CASE("an all-port all-reduce in segments on meshes tends to the cable bound",
          "[collectives][staples]") {
  for (const char* const network : meshes_of_one_side) {
    const std::vector<Rank> sides = wide_sides(network);
    if (sides.empty()) continue;
    const double p = Topology::parse(network).nodes(), n = sides[0];
    const auto d = static_cast<int>(sides.size());
    for (const int k : {2, 5}) {
      double overlaps = 0, blocks = 0;
      for (int t = 0; t < d; ++t) {
        const double overlap = std::max(0, k - 1 - t);
        overlaps += overlap;
        blocks += std::pow(n, t) * (2 * k * (n - 1) - (n - 2) * overlap) / (k * d * p);
      }
      counts(staple(operations::allreduce, fmt::format("all-port:segments={}", k)), network,
             2 * d * k * (n - 1) - (n - 2) * overlaps, blocks);
    }
  }
  // Unequal sides: gather and reduce-scatter overlap in short sides, too.
  counts(staple(operations::allreduce, "all-port:segments=3"), "mesh:3x4", 30, 73.0 / 72);
  counts(staple(operations::allreduce, "all-port:segments=5"), "mesh:5x7", 85, 327.0 / 350);
  counts(staple(operations::allreduce, "all-port:segments=5"), "mesh:4x8", 98, 1.09375);
  counts(staple(operations::allreduce, "all-port:segments=10"), "mesh:4x8", 178, 0.984375);
  counts_in_windows("mesh:2x3x5", 4);
  counts_in_windows("mesh:3x1x4", 7);
  counts_in_windows("line:9*mesh:2x2", 5);
  // 0.5625 is the bound.
  counts(staple(operations::allreduce, "all-port:segments=20"), "mesh:8x8", 338, 0.60234375);
  CHECK_THAT(refused(operations::allreduce, "all-port:segments=2", "torus:3x3"),
             Contains("use segments=1"));
  CHECK_THAT(refused(operations::alltoall, "all-port", "ring:5"), Contains("complete graph"));
}

TEST_CASE("neighbours exchange bundles: all hops are one link on meshes that do not close",
          "[collectives][staples]") {
  for (const char* const network :
       {"line:1", "line:2", "line:3", "line:9", "line:16", "mesh:3x3", "mesh:3x4", "mesh:4x3",
        "mesh:5x7", "mesh:2x3x4", "hypercube:4", "mesh:1x5"}) {
    double startups = 0, exchanged = 0;
    const double p = Topology::parse(network).nodes();
    const std::vector<Rank> sides = wide_sides(network);
    for (const Rank n : sides) {
      startups += n - 1 + n % 2;
      exchanged += p / n * ((n - 1.0) * (n - 1) + n % 2);
    }
    // The last dimension first, in a gather and in a reduce-scatter, which is a gather backwards.
    const auto gathered_by = [](const auto& order) {
      double blocks = 0, bundle = 1;
      for (const Rank n : order) blocks += bundle * (n == 2 ? 1 : 2 * n - 3 + n % 2), bundle *= n;
      return blocks;
    };
    const double gathered = gathered_by(std::vector<Rank>(sides.rbegin(), sides.rend()));
    const std::string name = "neighbour-exchange:lines=exchange";
    counts(staple(operations::allgather, name), network, startups, gathered);
    counts(staple(operations::reduce_scatter, name), network, startups, gathered_by(sides));
    counts(staple(operations::allreduce, name, "compose"), network, 2 * startups, {});
    counts(staple(operations::alltoall, "neighbour-exchange"), network, startups, exchanged);
  }
  for (const auto& [network, startups] : {std::pair{"torus:8x8", 8},
                                          {"ring:64", 32},
                                          {"torus:3x4", 4},
                                          {"ring:7", 6},
                                          {"torus:6x4", 5},
                                          {"line:16", 15},
                                          {"torus:3x4x5", 8}}) {
    const double p = Topology::parse(network).nodes();
    counts(staple(operations::allgather, "neighbour-exchange"), network, startups, p - 1);
    counts(staple(operations::reduce_scatter, "neighbour-exchange"), network, startups, p - 1);
    counts(staple(operations::allreduce, "neighbour-exchange"), network, 2 * startups,
           2 * (p - 1) / p);
  }
  // A node at the end of a line sends nothing when it has nothing to pass on.
  for (const auto& [network, messages] :
       {std::pair("line:9", 44U), {"line:16", 128U}, {"mesh:5x7", 233U}}) {
    const Schedule schedule = test::recorded(operations::alltoall, Topology::parse(network),
                                             staple(operations::alltoall, "neighbour-exchange"), 8);
    CHECK(schedule.messages() == messages);
    for (const RankLog& log : schedule.ranks) {
      CHECK(std::ranges::none_of(log.ops, [](const OpRecord& op) { return op.bytes == 0; }));
    }
  }
  CHECK_THAT(refused(operations::reduce_scatter, "neighbour-exchange", "ring:5", "compose"),
             Contains("use mesh or recursive-doubling"));
  CHECK_THAT(refused(operations::alltoall, "neighbour-exchange", "ring:5"), Contains("use mesh"));
}

TEST_CASE("between neighbours alone store-and-forward takes at most twice the time of worms",
          "[collectives][staples][replay]") {
  const auto time = [](Operation operation, const char* algorithm, const char* network,
                       Forwarding forwarding) {
    const Topology topology = Topology::parse(network);
    const MachineModel model{.lock_step = true, .forwarding = forwarding};
    return replay(test::recorded(operation, topology, staple(operation, algorithm), 1024),
                  Routing(topology), model)
        .time.value();
  };
  using enum Forwarding;
  // Problems 4.12 and 4.13: the textbook's algorithms for worms send the closing hop of every ring
  // back along the line.
  for (const char* const network :
       {"line:2", "line:3", "line:4", "line:7", "line:8", "line:9", "line:16", "line:33",
        "mesh:3x3", "mesh:4x4", "mesh:5x7", "mesh:8x8", "mesh:2x9", "mesh:2x3x4", "mesh:4x4x4"}) {
    const bool is_line = network[0] == 'l';
    for (const auto& [operation, algorithm] :
         {std::pair<Operation, const char*>{operations::allgather,
                                            "neighbour-exchange:lines=exchange"},
          {operations::reduce_scatter, "neighbour-exchange:lines=exchange"},
          {operations::allreduce, "neighbour-exchange:lines=exchange"},
          {operations::alltoall, "neighbour-exchange"}}) {
      INFO(network << " " << operation->name);
      const char* const book = operation == Operation(operations::allreduce)
                                   ? "reduce-scatter-allgather:pattern=mesh"
                                   : (is_line ? "ring" : "mesh");
      const Ticks stored = time(operation, algorithm, network, store_each);
      CHECK(stored == time(operation, algorithm, network, wormhole));
      CHECK(stored <= 2 * time(operation, book, network, wormhole));
    }
  }
  for (const Operation operation :
       {Operation(operations::allgather), Operation(operations::alltoall)}) {
    CHECK(time(operation, "mesh", "line:16", store_each) >
          10 * time(operation, "mesh", "line:16", wormhole));
  }
}

TEST_CASE("reductions on lines and meshes take the textbook's times, from any root",
          "[collectives][staples]") {
  for (const char* const network :
       {"line:1", "line:2", "line:7", "line:64", "ring:8", "ring:64", "mesh:3x3", "mesh:5x7",
        "mesh:8x8", "mesh:2x3x4", "torus:3x5", "torus:8x8", "torus:3x3x3", "hypercube:4",
        "ring:5*line:3", "mesh:1x4"}) {
    const Topology topology = Topology::parse(network);
    const Rank p = topology.nodes();
    double scatter = 0, gather = 0;
    for (const Rank n : topology.sizes()) scatter += n - 1, gather += log2_ceiling(n);
    const double vectors = 2.0 * (p - 1) / p;
    const std::string to_root = "reduce-scatter-gather:pattern=",
                      to_all = "reduce-scatter-allgather:pattern=";
    for (const Rank root : {0, p / 2, p - 1}) {
      counts(staple(operations::reduce, to_root + "mesh"), network, scatter + gather, vectors,
             root);
      counts(staple(operations::reduce, to_root + "ring"), network, p - 1 + log2_ceiling(p),
             vectors, root);
      CHECK(staple(operations::reduce, to_root + "mesh").predict(topology).rearranged_blocks == 0);
    }
    counts(staple(operations::reduce, to_root + "mesh", "compose"), network, scatter + gather, {});
    counts(staple(operations::allreduce, to_all + "mesh"), network, 2 * scatter, vectors);
    counts(staple(operations::allreduce, to_all + "mesh", "compose"), network, 2 * scatter, {});
    counts(staple(operations::allreduce, to_all + "ring"), network, 2.0 * (p - 1), vectors);
  }
  // The order of ranks is kept with second partial results.
  counts(staple(operations::allreduce, "reduce-scatter-allgather:pattern=mesh", "compose"),
         "mesh:5x7", 20, 96.0 / 35);
  for (const char* const network : {"petersen", "star:8", "tree:13", "ccc:3"}) {
    const Rank p = Topology::parse(network).nodes();
    counts(staple(operations::reduce, "reduce-scatter-gather:pattern=ring"), network,
           p - 1 + log2_ceiling(p), 2.0 * (p - 1) / p, p / 2);
  }
}

TEST_CASE("rotated trees use every link once, and tend to one message for each port",
          "[collectives][staples]") {
  struct Row {
    const char* network;
    int height, trees;
  };
  for (const auto& [network, height, trees] : std::vector<Row>{{"line:5", 4, 1},
                                                               {"mesh:3x3", 4, 2},
                                                               {"mesh:8x8", 14, 2},
                                                               {"mesh:2x7", 8, 2},
                                                               {"mesh:4x4x4", 9, 3},
                                                               {"mesh:2x2x3", 5, 3},
                                                               {"ring:3", 2, 2},
                                                               {"ring:8", 7, 2},
                                                               {"torus:3x3", 5, 4},
                                                               {"torus:4x8", 11, 4},
                                                               {"torus:3x4x5", 10, 6},
                                                               {"hypercube:3", 4, 3},
                                                               {"hypercube:6", 7, 6},
                                                               {"complete:4", 2, 3},
                                                               {"complete:13", 2, 12},
                                                               {"ghc:3x3", 4, 4},
                                                               {"ghc:4x4", 4, 6},
                                                               {"ghc:3x3x3", 6, 6}}) {
    for (const int s : {1, 3}) {
      const std::string name = fmt::format("rotated-trees:segments={}", s);
      const double steps = height + s - 1, blocks = steps / (trees * s);
      counts(staple(operations::broadcast, name), network, steps, blocks);
      counts(staple(operations::reduce, name), network, steps, blocks);
    }
  }
  for (const char* const network : {"torus:2x4", "ghc:3x4", "ring:5*line:3"}) {
    CHECK_THAT(refused(operations::broadcast, "rotated-trees", network),
               Contains("the dimensions must all be lines, all be rings"));
  }
}

TEST_CASE("Bruck's algorithms and recursive multiplying to any base", "[collectives][staples]") {
  for (const auto& [network, p] : {std::pair{"hypercube:6", 64},
                                   {"complete:9", 9},
                                   {"complete:7", 7},
                                   {"mesh:3x4", 12},
                                   {"complete:27", 27},
                                   {"complete:1", 1},
                                   {"complete:2", 2},
                                   {"torus:4x4", 16}}) {
    for (const int k : {2, 3, 4, 8}) {
      double hops = 0, digits = 0;
      for (int power = 1; power < p; power *= k) {
        for (int d = 1; d < k && d * power < p; ++d) ++hops;
      }
      for (int e = 0; e < p; ++e) {
        for (int rest = e; rest > 0; rest /= k) digits += rest % k != 0 ? 1 : 0;
      }
      counts(staple(operations::alltoall, fmt::format("bruck:radix={}", k)), network, hops, digits);
      counts(staple(operations::allgather, fmt::format("bruck:radix={}", k)), network, hops, p - 1);
      double power = 1, rounds = 0;
      for (; power * k <= p; power *= k) rounds += k - 1;
      rounds += 2 * std::ceil((p - power) / power);
      const std::string name = fmt::format("recursive-multiplying:radix={}", k);
      counts(staple(operations::allreduce, name), network, rounds, rounds);
      if (power == p || p < k) {
        counts(staple(operations::allreduce, name, "compose"), network, rounds, rounds);
      } else {
        CHECK(refused(operations::allreduce, name.c_str(), network, "compose") != "");
      }
    }
  }
  CHECK_THAT(refused(operations::allgather, "bruck:radix=3:order=far-first", "ring:9"),
             Contains("order=near-first"));
}

TEST_CASE("all-reduces in two levels", "[collectives][staples]") {
  counts(staple(operations::allreduce, "two-level"), "complete:8*ring:4", 9, 2.25);
  counts(staple(operations::allreduce, "two-level:outer=ring"), "complete:8*ring:4", 20, 1.9375);
  counts(staple(operations::allreduce, "two-level:outer=ring"), "complete:6*line:5", 18, 29.0 / 15);
  for (const char* const network : {"mesh:3x4", "torus:3x5", "ghc:4x4", "mesh:2x3x4",
                                    "ring:5*tree:4", "mesh:1x5", "mesh:5x1"}) {
    const Topology topology = Topology::parse(network);
    const double n = topology.sizes().back(), groups = topology.nodes() / n;
    const double doubling = std::floor(std::log2(groups));
    const bool is_power = std::exp2(doubling) == groups;
    const double outer = doubling + (is_power ? 0 : 2);
    counts(staple(operations::allreduce, "two-level"), network, 2 * (n - 1) + outer,
           2 * (n - 1) / n + outer / n);
    counts(staple(operations::allreduce, "two-level:form=leader", "compose"), network,
           2 * std::ceil(std::log2(n)) + outer, {});
  }
  CHECK_THAT(refused(operations::allreduce, "two-level", "ring:6"), Contains("2 dimensions"));
  CHECK_THAT(refused(operations::allreduce, "two-level:inner=halving", "mesh:4x3"),
             Contains("use inner=ring"));
  CHECK_THAT(refused(operations::allreduce, "two-level:outer=halving", "mesh:3x4"),
             Contains("use outer=doubling"));
}

TEST_CASE("other libraries' names are algorithms with options", "[collectives][staples]") {
  for (const Alias& alias : aliases()) {
    INFO(alias.operation << " " << alias.library << "." << alias.name);
    const Operation operation = parse_operation(alias.operation);
    const Collective direct = parse_collective(operation, alias.algorithm);
    const std::string name = fmt::format("{}.{}", alias.library, alias.name);
    CHECK(parse_collective(operation, name).text() == direct.text());
    CHECK(find_alias(alias.operation, name) == &alias);
  }
  const Collective ring =
      parse_collective(operations::allreduce, "OpenMPI.Segmented_Ring:segments=8");
  CHECK(ring.text() == "ring:order=rank:segments=8");
  CHECK(find_alias("alltoall", "openmpi.segmented_ring") == nullptr);
  // The libraries halve the vector between the farthest ranks first, and gather it by doubling.
  const Topology eight = Topology::parse("complete:8");
  const auto partners_of_0 = [&](Operation operation, const char* name) {
    Collective collective = parse_collective(operation, name);
    if (operation->reduces) collective.arguments.reduction = find_reduction("sum", "int32");
    const Contract contract = contract_of(collective, eight.nodes(), 64, 1);
    const Schedule schedule = record(eight, collective_program(collective, contract, nullptr));
    std::vector<Rank> partners;
    for (std::size_t step = 0; step < schedule.steps(); ++step) {
      for (const OpRecord& op : schedule.ops(0, step)) {
        if (op.kind == Op::Kind::send) partners.push_back(op.peer);
      }
    }
    return partners;
  };
  for (const char* const library : {"openmpi", "mpich"}) {
    CHECK(partners_of_0(operations::reduce_scatter,
                        fmt::format("{}.recursive_halving", library).c_str()) ==
          std::vector<Rank>{4, 2, 1});
  }
  CHECK(partners_of_0(operations::broadcast, "openmpi.scatter_allgather") ==
        std::vector<Rank>{4, 2, 1, 1, 2, 4});
  CHECK_THROWS_WITH(parse_collective(operations::allreduce, "openmpi.rings"),
                    Contains("wormcube list --aliases"));
}
