// The textbook's algorithms on its networks: the counts, and the time in lock step, equal the
// predictions.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/collectives/ledger.hpp"

#include "wormcube/runtime/topology/routing.hpp"
#include "wormcube/runtime/topology/theory.hpp"
#include "wormcube/tests/collectives/built_in.hpp"
#include "wormcube/tests/sanitized.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <vector>

#include <fmt/core.h>

using namespace wormcube;

namespace {

/// The textbook's algorithms, and the shapes of the networks that it runs them on.
struct Entry {
  const char *operation, *algorithm, *shapes;
};
const std::vector<Entry> textbook{
    {"broadcast", "binomial", "line complete"},
    {"broadcast", "halving", "ring complete line"},
    {"broadcast", "hypercube-all-port", "hypercube"},
    {"broadcast", "mesh", "mesh torus mesh3"},
    {"broadcast", "naive", "ring"},
    {"broadcast", "neighbours", "torus3 mesh3"},
    {"broadcast", "pipelined:packets=8", "hypercube"},
    {"broadcast", "pipelined:packets=0", "hypercube"},
    {"broadcast", "recursive-doubling:order=descending", "ring hypercube tree mesh"},
    {"broadcast", "recursive-doubling:order=ascending", "line hypercube"},
    {"broadcast", "recursive-doubling:order=ascending:ties=balanced", "ring"},
    {"broadcast", "scatter-allgather:allgather=doubling", "hypercube"},
    {"broadcast", "scatter-allgather:allgather=neighbours", "hypercube ring line mesh"},
    {"broadcast", "scatter-allgather", "hypercube"},
    {"broadcast", "tree", "tree"},
    {"reduce", "halving", "ring line tree"},
    {"reduce", "hypercube", "hypercube complete"},
    {"reduce", "mesh", "mesh torus3"},
    {"reduce", "reduce-scatter-gather", "hypercube"},
    {"reduce", "reduce-scatter-gather:pattern=mesh", "ring mesh"},
    {"allgather", "all-port", "ring torus"},
    {"allgather", "hypercube-all-port", "hypercube"},
    {"allgather", "bruck", "complete hypercube"},
    {"allgather", "hypercube:order=ascending", "hypercube ring line tree mesh complete"},
    {"allgather", "hypercube:order=descending", "hypercube tree line ring mesh"},
    {"allgather", "mesh", "mesh mesh3"},
    {"allgather", "ring", "ring line"},
    {"allgatherv", "bruck", "complete"},
    {"allgatherv", "hypercube:order=ascending", "hypercube"},
    {"allgatherv", "mesh", "mesh"},
    {"allgatherv", "ring", "ring"},
    {"reduce_scatter", "bruck", "complete"},
    {"reduce_scatter", "hypercube", "hypercube"},
    {"reduce_scatter", "mesh", "mesh torus"},
    {"reduce_scatter", "ring", "ring line"},
    {"allreduce", "allgather", "ring line"},
    {"allreduce", "recursive-doubling", "hypercube complete ring"},
    {"allreduce", "reduce-broadcast", "ring line hypercube"},
    {"allreduce", "reduce-scatter-allgather:pattern=doubling", "hypercube"},
    {"allreduce", "reduce-scatter-allgather:pattern=ring", "ring"},
    {"allreduce", "reduce-scatter-allgather:pattern=mesh", "mesh"},
    {"allreduce", "ring-vectors", "ring line"},
    {"scan", "hypercube", "hypercube line complete"},
    {"exscan", "hypercube", "hypercube"},
    {"barrier", "hypercube", "hypercube"},
    {"barrier", "tree", "line"},
    {"scatter", "halving", "line"},
    {"scatter", "hypercube", "hypercube line ring mesh torus tree complete"},
    {"scatter", "hypercube-all-port", "hypercube"},
    {"scatter", "mesh", "mesh"},
    {"scatter", "ring", "ring mesh3"},
    {"scatterv", "halving", "line"},
    {"gather", "halving", "line"},
    {"gather", "hypercube", "hypercube line ring mesh torus tree complete"},
    {"gather", "mesh", "mesh"},
    {"gather", "hypercube-all-port", "hypercube"},
    {"gather", "ring", "ring mesh3"},
    {"gatherv", "halving", "line"},
    {"alltoall", "bruck", "complete"},
    {"alltoall", "hypercube-all-port", "hypercube"},
    {"alltoall", "hypercube-combine", "hypercube mesh"},
    {"alltoall", "hypercube-pairwise", "hypercube complete line tree mesh torus"},
    {"alltoall", "mesh", "torus mesh mesh3"},
    {"alltoall", "ring", "ring line"},
    {"alltoall", "ring-all-port", "ring"},
    {"alltoall", "ring-bidirectional", "ring line"},
    {"alltoall", "shift", "hypercube complete"},
    {"alltoallv", "hypercube-pairwise", "hypercube"},
    {"alltoallv", "shift", "complete"},
    {"shift", "direct", "ring line mesh torus hypercube"},
    {"shift", "gray-code:powers=forward", "hypercube"},
    {"shift", "gray-code:powers=both", "hypercube"},
    {"shift", "unit-steps", "ring line mesh"},
    {"permute", "direct", "hypercube"},
    {"permute", "valiant", "hypercube"},
    {"k_broadcast", "bruck", "complete"},
    {"k_broadcast", "hypercube:order=ascending", "hypercube"},
    {"k_broadcast", "hypercube:order=descending", "hypercube"},
    {"k_broadcast", "pipelined", "ring"},
    {"k_broadcast", "split", "hypercube"},
    {"k_reduce", "hypercube", "hypercube"},
    {"k_reduce", "split", "hypercube"},
    {"k_alltoall", "direct", "complete"},
    {"k_alltoall", "hypercube", "hypercube"},
    {"k_gather", "hypercube", "hypercube"},
};

/// Networks of a shape, up to 1024 nodes; "mesh3" has three dimensions.
std::vector<std::string> networks(const std::string& shape) {
  std::vector<std::string> all;
  if (shape == "hypercube") {
    for (int d = 0; d <= 10; ++d) all.push_back(fmt::format("hypercube:{}", d));
  } else if (shape == "mesh" || shape == "torus") {
    for (const char* side : {"1x1", "2x2", "2x3", "3x3", "4x4", "5x7", "8x8", "16x16", "32x32"}) {
      all.push_back(shape + ":" + side);
    }
  } else if (shape == "mesh3" || shape == "torus3") {
    for (const char* side : {"1x1x1", "2x2x2", "3x3x3", "2x3x4", "4x4x4", "8x8x16"}) {
      all.push_back(shape.substr(0, shape.size() - 1) + ":" + side);
    }
  } else {
    for (const int p : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 31, 64, 255, 1024}) {
      all.push_back(fmt::format("{}:{}", shape, p));
    }
  }
  return all;
}

/// The arguments of calls on p nodes: roots, shifts, sources, permutations.
std::vector<Arguments> calls_of(Operation operation, Rank p) {
  std::vector<Arguments> all;
  Arguments plain;
  if (operation->reduces) plain.reduction = find_reduction("sum", "uint8");
  const auto add = [&](auto change) {
    change(plain);
    all.push_back(plain);
  };
  if (operation->rooted) {
    for (const Rank root : std::set<Rank>{0, 5 * p / 8}) add([=](Arguments& a) { a.root = root; });
  } else if (operation->shifts) {
    for (const Rank by : std::set<Rank>{1, 3, p / 2, p - 1, -5}) {
      add([=](Arguments& a) { a.by = by; });
    }
  } else if (operation->permutes) {
    for (const Permutation::Name permutation : Permutation::names) {
      add([=](Arguments& a) { a.permutation = permutation; });
    }
  } else if (operation->has_sources) {
    for (Rank k = 1; k <= p; k *= 4) {
      add([=](Arguments& a) {
        a.sources.clear();
        for (Rank i = 0; i < k; ++i) a.sources.push_back(i);
      });
    }
  } else {
    all.push_back(plain);
  }
  return all;
}

struct Costs {
  Bytes elements;  // of a part of a block, of 8 bytes each
  CostModel model;
};
// start-up, transfer, rearrangement, combining
constexpr std::array<Costs, 3> costs{
    {{1, {100, 1, 0, 0, 0}}, {3, {7, 0.25, 0.125, 2, 0}}, {40, {0.5, 3, 1, 0.75, 0}}}};

void same(const char* what, const std::optional<double>& predicted, double counted) {
  if (!predicted) return;
  INFO(what);
  CHECK(counted == Approx(*predicted).epsilon(1e-12));
}

/// Counts and times of one call, for a block of `elements` elements in each part.
void check_call(Collective collective, const Topology& topology, const Costs& chosen) {
  collective.settle(topology, chosen.model, 8 * chosen.elements);
  const Prediction predicted = collective.predict(topology);
  const Bytes block = 8 * chosen.elements * static_cast<Bytes>(collective.parts(topology));
  CheckOptions options;
  options.all_port = collective.algorithm->ports == Ports::all;
  const ScheduleReport report = check_steps(collective, topology, block, options);
  const auto blocks = [&](Bytes bytes) {
    return static_cast<double>(bytes) / static_cast<double>(block);
  };
  CHECK(report.matched());
  CHECK(report.port_violations == 0);
  CHECK(report.deadlock_free);
  if (collective.algorithm->contention_free) CHECK(report.link_load_max <= 1);
  REQUIRE(predicted.startups);
  same("start-ups", predicted.startups, static_cast<double>(report.startups));
  same("link load", predicted.link_load, report.link_load_max);
  if (collective.operation()->sizes != Sizes::equal) return;
  REQUIRE(predicted.complete());
  same("transmission", predicted.transmission_blocks, blocks(report.transmission));
  same("with contention", predicted.link_blocks, blocks(report.contended));
  same("rearranged", predicted.rearranged_blocks, blocks(report.rearranged));
  same("combined", predicted.combined_blocks, blocks(report.combined));
  same("working blocks", predicted.working_blocks, blocks(report.peak_block_bytes));
  if (!predicted.link_blocks && !collective.algorithm->contention_free) return;
  for (const Costs& other : costs) {  // without hops: sources give none
    CHECK(lock_step_time(report, other.model).total_us ==
          Approx(predicted_us(predicted, other.model, block)).epsilon(1e-12));
  }
}

/// Walks the textbook: every entry x networks of its shapes x calls.
/// \param f  f(collective, topology)
template <class F>
void for_each_entry(F f) {
  for (const Entry& entry : textbook) {
    const Operation operation = parse_operation(entry.operation);
    std::istringstream shapes(entry.shapes);
    for (std::string shape; shapes >> shape;) {
      for (const std::string& network : networks(shape)) {
        const Topology topology = Topology::parse(network);
        for (const Arguments& arguments : calls_of(operation, topology.nodes())) {
          INFO(entry.operation << " " << entry.algorithm << " on " << network << ", root "
                               << arguments.root << ", by " << arguments.by << ", "
                               << arguments.sources.size() << " sources, "
                               << to_string(arguments.permutation));
          const Collective collective = parse_collective(operation, entry.algorithm, arguments);
          if (!refusal(collective, topology)) f(collective, topology);
        }
      }
    }
  }
}

/// Messages of a call, about: what a dry run takes.
double messages(const Collective& collective, const Topology& topology) {
  const double startups = collective.predict(topology).startups.value_or(1);
  const bool all_port = collective.algorithm->ports == Ports::all;
  return startups * static_cast<double>(all_port ? topology.links() : topology.nodes());
}
constexpr double many = sanitized ? 500 : 30000;

}  // namespace

TEST_CASE("the textbook's algorithms cost what is predicted, up to 1024 nodes",
          "[collectives][ledger]") {
  std::size_t checked = 0;
  for_each_entry([&](const Collective& collective, const Topology& topology) {
    if (messages(collective, topology) > many) return;
    check_call(collective, topology, costs[checked++ % costs.size()]);
  });
  CHECK(checked > (sanitized ? 300 : 1000));
}

TEST_CASE("the same where it takes more messages, p - 1 steps of 1024 nodes above all",
          "[collectives][ledger][.][wide]") {
  for_each_entry([&](const Collective& collective, const Topology& topology) {
    if (messages(collective, topology) > many) check_call(collective, topology, costs[1]);
  });
}

/// On hypercubes of `from` to `to` dimensions.
void check_all_port_copies(int from, int to) {
  int algorithms = 0;
  for (const Algorithm* const algorithm : cases::built_in()) {
    if (algorithm->ports != Ports::all || algorithm->name != "hypercube-all-port") continue;
    ++algorithms;
    for (int d = from; d <= to; ++d) {
      INFO(algorithm->operation->name << " on hypercube:" << d);
      const Topology cube = Topology::parse(fmt::format("hypercube:{}", d));
      const Collective collective(*algorithm);
      const ScheduleReport report =
          check_steps(collective, cube, unit_block_bytes(collective, cube), {.all_port = true});
      CHECK(report.startups == static_cast<std::size_t>(d));
      CHECK(report.link_load_max == 1);
      CHECK(report.port_violations == 0);
      // All d copies at once: each sends in every step.
      const auto p = static_cast<std::size_t>(cube.nodes());
      const bool all_send = !algorithm->operation->rooted;
      CHECK(report.messages == (all_send ? p * d * d : (p - 1) * d));
    }
  }
  CHECK(algorithms == 5);
}

TEST_CASE("all-port copies on a hypercube share no link", "[collectives][ledger]") {
  check_all_port_copies(1, std::min(most_dimensions, 8));
}
TEST_CASE("nor do they on 512 and on 1024 nodes", "[collectives][ledger][.][wide]") {
  check_all_port_copies(9, 10);
}

TEST_CASE(
    "an erratum (E12): C(d, l) nodes are l links away, half the dimensions and a bit "
    "on average",
    "[collectives][ledger]") {
  for (int d = 1; d <= 10; ++d) {
    const Topology cube = Topology::parse(fmt::format("hypercube:{}", d));
    const Routing routing(cube);
    const Rank p = cube.nodes();
    std::vector<std::int64_t> at(static_cast<std::size_t>(d) + 1);
    std::vector<Channel> route;
    for (Rank q = 0; q < p; ++q) {
      route.clear();
      if (q != 0) routing.route(0, q, route);
      ++at[route.size()];
    }
    std::int64_t binomial = 1, sum = 0;
    for (int l = 0; l <= d; ++l) {
      CHECK(at[static_cast<std::size_t>(l)] == binomial);
      sum += l * binomial;
      binomial = binomial * (d - l) / (l + 1);
    }
    // E12: not (log p)/2 but (log p)/2 * p/(p-1); and p log p directed links carry the exchange, so
    // that traffic alone would take p/2 blocks' time. The p-1 are the ports' bound.
    CHECK(theory::average_distance(cube) == Rational(d * p, 2 * (p - 1)));
    CHECK(sum * 2 == static_cast<std::int64_t>(d) * p);
    CHECK(sum * p / (static_cast<std::int64_t>(p) * d) == p / 2);
    const auto time = [&](const char* algorithm) {
      return *parse_collective(operations::alltoall, algorithm).predict(cube).transmission_blocks;
    };
    CHECK(time("hypercube-pairwise") == p - 1);
    CHECK(time("hypercube-all-port") == p / 2);
    CHECK(lower_bound(operations::alltoall, cube, Ports::one).transmission_blocks == p - 1);
  }
}
