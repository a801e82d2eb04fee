// The chapter's rows, and how they are counted.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/reproduce/grama.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

namespace wormcube::apps {

const std::string_view grama_citation =
    "Grama, Gupta, Karypis, Kumar, Introduction to Parallel Computing, 2nd edition, 2003, chapter "
    "4: Basic Communication Operations";

std::string_view to_string(ChapterUnit unit) {
  constexpr std::array<std::string_view, 10> names{
      "start-ups", "with contention",   "rearranged", "combined",          "longest route",
      "time",      "times the table's", "bisections", "nodes at distance", "cables"};
  return names[static_cast<std::size_t>(unit)];
}

bool is_same_figure(double a, double b) { return std::abs(a - b) < 1e-9; }

namespace {

/// Nodes at this distance from node 0 of a product.
double nodes_at(const Topology& topology, int distance) {
  std::vector<double> count{1};  // by distance, in the dimensions so far
  for (int d = 0; d < topology.dimensions(); ++d) {
    std::vector<double> sum;
    for (const int in_dimension : topology.factor(d).distances_from(0)) {
      for (std::size_t before = 0; before < count.size(); ++before) {
        const std::size_t at = before + static_cast<std::size_t>(in_dimension);
        if (at >= sum.size()) sum.resize(at + 1);
        sum[at] += count[before];
      }
    }
    count = std::move(sum);
  }
  const auto at = static_cast<std::size_t>(distance);
  return at < count.size() ? count[at] : 0;
}

/// The time in which the links across the middle of a square mesh or torus carry the blocks of a
/// total exchange.
double bisection_time(const Topology& topology) {
  const double p = topology.nodes(), side = topology.size(0);
  const double links = topology.factor(0).wraps() ? 2 * side : side;
  return p * p / 4 / links;
}

/// The blocks of time of long messages on a hypercube, by Table 4.1.
double table_blocks(Operation operation, double p) {
  using namespace operations;
  if (operation == Operation(shift)) return 1;
  for (const Operation of_parts : {Operation(broadcast), Operation(reduce), Operation(allreduce)}) {
    if (operation == of_parts) return 2 * (p - 1) / p;
  }
  return p - 1;
}

double count(const ChapterFigure& figure, Operation operation, const CheckResult& check,
             const Topology& topology) {
  constexpr double ts = 100;
  const auto startups = static_cast<double>(check.report.startups);
  switch (figure.unit) {
    case ChapterUnit::startups:
      return startups;
    case ChapterUnit::contended:
      return check.link_blocks;
    case ChapterUnit::rearranged:
      return check.rearranged_blocks;
    case ChapterUnit::combined:
      return check.combined_blocks;
    case ChapterUnit::route:
      return check.report.max_hops;
    case ChapterUnit::time:
      return ts * startups + check.link_blocks;
    case ChapterUnit::bandwidth:
      return check.link_blocks / table_blocks(operation, topology.nodes());
    case ChapterUnit::bisections:
      return check.link_blocks / bisection_time(topology);
    case ChapterUnit::at_distance:
    case ChapterUnit::cables:
      break;
  }
  throw std::logic_error("reproduce grama: an algorithm's row with a network's figure");
}

void compare(ChapterResult& result, const ChapterRow& row) {
  for (std::size_t i = 0; i < row.figures.size(); ++i) {
    const ChapterFigure& figure = row.figures[i];
    if (is_same_figure(result.counted[i], figure.corrected)) continue;
    result.failures.push_back(fmt::format("{} {} on {}: {} {}, counted {}", row.place,
                                          row.algorithm, row.network, to_string(figure.unit),
                                          figure.corrected, result.counted[i]));
  }
}

Arguments arguments_of(const ChapterRow& row, std::int64_t by) {
  Arguments arguments = row.arguments;
  arguments.by = by;
  if (row.operation->reduces) arguments.reduction = find_reduction("sum", "int64");
  return arguments;
}

}  // namespace

Collective collective_of(const ChapterRow& row) {
  return parse_collective(row.operation, row.algorithm, arguments_of(row, row.arguments.by));
}

ChapterResult reproduce_row(const ChapterRow& row, const CheckOptions& options) {
  const Topology topology = Topology::parse(row.network);
  ChapterResult result;
  if (row.algorithm.empty()) {
    for (std::size_t i = 0; i < row.figures.size(); ++i) {
      result.counted.push_back(row.figures[i].unit == ChapterUnit::cables
                                   ? static_cast<double>(topology.links()) / 2
                                   : nodes_at(topology, static_cast<int>(i)));
    }
    compare(result, row);
    return result;
  }
  result.counted.resize(row.figures.size());
  const std::int64_t first = row.every_distance ? 1 : row.arguments.by;
  const std::int64_t last = row.every_distance ? topology.nodes() - 1 : first;
  for (std::int64_t by = first; by <= last; ++by) {
    const Collective collective =
        parse_collective(row.operation, row.algorithm, arguments_of(row, by));
    CheckOptions with_ports = options;
    with_ports.all_port = collective.algorithm->ports == Ports::all;
    const CheckResult check = check_collective(collective, topology, with_ports);
    result.failures.insert(result.failures.end(), check.failures.begin(), check.failures.end());
    for (std::size_t i = 0; i < row.figures.size(); ++i) {
      result.counted[i] =
          std::max(result.counted[i], count(row.figures[i], row.operation, check, topology));
    }
  }
  compare(result, row);
  return result;
}

std::span<const Erratum> grama_errata() {
  static constexpr std::array<Erratum, 22> errata{{
      {"grama-1", "4.6.1, example", "a 3-shift on 4 x 4 nodes is a single backward row shift",
       "2 steps: the row shift delivers 4 of 16 packets"},
      {"grama-2", "4.6.1", "at most sqrt p + 1 steps", "the worst distance takes sqrt p"},
      {"grama-3", "4.6.2, P4.22, P4.23", "nodes are numbered by a Gray code",
       "Eq. 4.12 and its problems hold for binary labels; with Gray labels two messages share a "
       "link for many distances"},
      {"grama-4", "Fig. 4.12, P4.2, P4.3", "p/2 messages share a link of a ring",
       "p/4 if half-way messages go both ways; p/2 on a line"},
      {"grama-5", "4.1.5", "the order of dimensions does not matter",
       "on lines, rings and trees ascending order makes messages share links; so do all-gathers"},
      {"grama-6", "P4.16", "k log(p/k) + k - 1", "log(p/k) + k - 1 with the same assumptions"},
      {"grama-7", "P4.16, P4.20", "any k nodes",
       "one source in each subcube of p/k nodes, or the k nodes of a subcube"},
      {"grama-8", "Alg. 4.5, 4.8, 4.9; Alg. 4.3", "any associative operator",
       "a commutative operator, because the order of operands is cyclic or mixed"},
      {"grama-9", "Alg. 4.3, 4.5, 4.8", "captions, loops and variables",
       "4.8 is all-to-all reduction, counts down, and uses j twice; 4.3 lacks an endif; 4.5 uses "
       "an undeclared name"},
      {"grama-10", "4.2.4", "p steps", "p - 1"},
      {"grama-11", "4.5.1", "the ring's exchange is optimal",
       "in one direction only: p^2/4 with one port in both, p^2/8 with all ports"},
      {"grama-12", "4.5.3", "the bound follows from the number of links",
       "from one port: the links alone give p/2 blocks"},
      {"grama-13", "P4.11", "at most 4 times the bisection bound",
       "on the open mesh; 8(1 - 1/sqrt p) on the torus"},
      {"grama-14", "4.7.2", "all ports divide the times by log p",
       "compared with Eq. 4.9; compared with Eq. 4.10, the exchange gains 2(p - 1)/p"},
      {"grama-15", "4.3", "subsets of k or fewer", "of k + 1 nodes"},
      {"grama-16", "4.6.2", "distances i <= l < p", "1 <= l < p"},
      {"grama-17", "4.7.1, all-reduce", "all-to-one reduction and one-to-all broadcast of parts",
       "all-to-all reduction and all-to-all broadcast"},
      {"grama-18", "4.9", "the spanning trees of 4.7.1, log p parts",
       "4.7.1 cuts into p parts in this edition; P4.2 names a wrong algorithm"},
      {"grama-19", "P4.6", "the third way is best for very short messages",
       "the third way is not defined; which way wins depends on p"},
      {"grama-20", "Table 4.1", "all-gather needs bandwidth of Theta(1)",
       "for the ring's start-ups; both terms together need the hypercube"},
      {"grama-21", "Figures", "labels of nodes",
       "the text does not say whether they are row-major or column-major; both are free of "
       "contention"},
      {"grama-22", "P4.14, P4.15", "sparse 3-D mesh", "not defined in the text"},
  }};
  return errata;
}

}  // namespace wormcube::apps
