// Exchanges, reductions and gathers on tori: the figures of their constructions, and their tables.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/alltoall/direct_factor.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/check.hpp"
#include "wormcube/collectives/kit/circulant.hpp"
#include "wormcube/collectives/kit/swing.hpp"
#include "wormcube/collectives/kit/ternary.hpp"

#include <bit>
#include <cmath>
#include <set>
#include <tuple>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;

namespace {

Collective with_sum(Operation operation, const std::string& algorithm) {
  Arguments arguments;
  if (operation->reduces) arguments.reduction = find_reduction("sum", "int32");
  return parse_collective(operation, algorithm, arguments);
}

/// In start-ups and blocks, or vectors; `bound` where the contended blocks are the least there can
/// be.
struct Figure {
  Operation operation;
  const char* algorithm;
  const char* network;
  double startups, contended;
  bool bound = false;
};

const Operation exchanging = operations::alltoall, scattering = operations::reduce_scatter,
                gathering = operations::allgather, all_reduce = operations::allreduce;

const std::vector<Figure> figures{
    {gathering, "bruck", "torus:8x8", 6, 189},
    {gathering, "bruck:order=far-first", "torus:8x8", 6, 108},
    {gathering, "bruck:order=far-first", "torus:5x5", 5, 33},
    {gathering, "bruck:order=far-first", "ring:9", 4, 13},
    {gathering, "bruck:order=far-first", "ring:27", 5, 66},
    {gathering, "bruck:order=far-first", "ring:64", 6, 192},
    {gathering, "bruck:order=far-first:bundle=4", "complete:64", 17, 63, true},
    {all_reduce, "reduce-scatter-allgather:order=mirrored", "torus:8x8", 12, 3.375},
    {all_reduce, "reduce-scatter-allgather:order=mirrored:ties=balanced", "torus:8x8", 12, 2.8125},
    {all_reduce, "reduce-scatter-allgather:order=interleaved", "torus:8x8", 12, 2.625},
    {all_reduce, "reduce-scatter-allgather:order=interleaved", "mesh:8x8", 12, 2.625},
    {all_reduce, "reduce-scatter-allgather:order=interleaved:ties=balanced", "torus:8x8", 12,
     2.4375},
    {all_reduce, "reduce-scatter-allgather:order=interleaved:ties=balanced", "torus:4x8", 10, 2.25},
    {all_reduce, "reduce-scatter-allgather:order=mirrored:ties=balanced", "ring:64", 12, 5.5},
    {all_reduce, "reduce-scatter-allgather:order=mirrored:ties=balanced", "torus:4x4", 8, 1.875,
     true},
    {exchanging, "rotated", "torus:4x4", 4, 8, true},
    {exchanging, "rotated", "torus:5x8", 8, 40, true},
    {exchanging, "rotated", "torus:4x3x5", 6, 36, true},
    {exchanging, "rotated", "torus:8x8", 8, 64, true},
    {operations::broadcast, "tree-packing:segments=1", "mesh:4x4", 9, 4.5},
    {operations::broadcast, "tree-packing:segments=1", "torus:8x8", 21, 5.25},
    {operations::broadcast, "tree-packing:segments=1", "petersen", 4, 4.0 / 3},
    {operations::broadcast, "tree-packing:segments=1", "torus:8x8~0-1", 18, 6},
    {operations::broadcast, "tree-packing:segments=1", "de-bruijn:2x4", 7, 3.5},
    {operations::broadcast, "tree-packing:segments=1000", "torus:8x8~0", 1017, 0.339, true},
    {operations::reduce, "tree-packing:segments=1", "binary-tree:15", 3, 3},
    {exchanging, "shortest-paths", "petersen", 2, 5, true},
    {exchanging, "shortest-paths", "twisted:4x8", 4, 21, true},
    {exchanging, "shortest-paths", "star-graph:4", 4, 62.0 / 3, true},
    {exchanging, "shortest-paths", "ccc:3", 6, 36, true},
    {exchanging, "shortest-paths", "torus:4x2x3", 4, 12, true},
    {exchanging, "shortest-paths", "mesh:4x4", 6, 289.0 / 12},
    {exchanging, "shortest-paths", "torus:8x8", 8, 391.0 / 6},
    {exchanging, "shortest-paths", "torus:8x8~0-1", 8, 281.0 / 3},
    {exchanging, "shortest-paths", "de-bruijn:2x4", 4, 245.0 / 12},
    {exchanging, "shortest-paths-one-port", "star-graph:4", 12, 62},
    {exchanging, "shortest-paths-one-port", "twisted:4x8", 16, 84},
    {exchanging, "shortest-paths:limit=1", "binary-tree:15", 56, 56, true},
    {exchanging, "shortest-paths:limit=4", "binary-tree:15", 14, 56, true},
    {exchanging, "shortest-paths:limit=1", "mesh:8x8~0-1", 142, 142},
    {exchanging, "shortest-paths:limit=1", "torus:3x4x5", 45, 45},
    {exchanging, "rotated", "line:9", 20, 20, true},
    {exchanging, "rotated", "mesh:4x4", 8, 16, true},
    {exchanging, "rotated", "mesh:5x7", 24, 60, true},
    {exchanging, "rotated", "mesh:3x3x3", 6, 18, true},
    {exchanging, "rotated", "mesh:3x4x5", 18, 72, true},
    {exchanging, "rotated", "mesh:4x2x3", 12, 24, true},
    {exchanging, "rotated", "mesh:8x8", 32, 128, true},
    {exchanging, "rotated", "mesh:7x12", 72, 252, true},
    {exchanging, "rotated", "hypercube:4", 4, 8, true},
    {exchanging, "direct-product", "torus:8x8", 64, 64, true},
    {exchanging, "direct-product", "torus:5x7", 34, 34, true},
    {exchanging, "direct-product", "torus:4x8", 32, 32, true},
    {exchanging, "direct-product", "torus:9x5", 90, 90},
    {exchanging, "direct-product", "ring:10", 15, 15},
    {exchanging, "direct-product", "ring:10*ring:3", 55, 55},
    {exchanging, "direct-product", "mesh:4x4", 16, 16, true},
    {exchanging, "direct-product", "ring:8*complete:3", 24, 24, true},
    {exchanging, "direct-product", "ring:14*complete:2", 56, 56},
    {exchanging, "direct-product", "complete:4*complete:5", 19, 19, true},
    {exchanging, "direct-product", "line:4*complete:6*ring:3", 72, 72, true},
    {scattering, "swing", "torus:8x8", 6, 66},
    {gathering, "bfb", "torus:4x8", 6, 7.75, true},
    {gathering, "bfb", "torus:3x4x5", 5, 59.0 / 6, true},
    {gathering, "bfb", "torus:4x2x3", 4, 4.6, true},
    {gathering, "bfb", "torus:2x3x4x5", 6, 17, true},
    {gathering, "bfb", "hypercube:6", 6, 10.5, true},
    {gathering, "bfb", "ghc:4x3", 2, 2.2, true},
    {gathering, "bfb", "petersen", 2, 3, true},
    {gathering, "bfb", "star-graph:4", 4, 23.0 / 3, true},
    {gathering, "bfb", "twisted:4x8", 4, 7.75, true},
    {gathering, "bfb", "ring:4*line:3", 4, 11.0 / 3, true},
    {gathering, "bfb", "torus:8x8~0-1", 8, 21, true},
    {gathering, "bfb", "torus:4x4x4~0-1", 6, 12.6, true},
    {gathering, "bfb", "torus:8x8~0", 8, 62.0 / 3, true},
    {gathering, "bfb", "mesh:7x12", 17, 136.0 / 3},
    {gathering, "bfb", "mesh:3x4x5", 9, 617.0 / 30},
    {gathering, "bfb", "binary-tree:15", 6, 19},
    {gathering, "bfb", "ccc:3", 6, 28.0 / 3},
    {gathering, "bfb", "de-bruijn:2x4", 4, 7.75},
    {scattering, "bfb", "mesh:5x7", 10, 18},
    {scattering, "bfb:segments=16", "mesh:4x4", 21, 7.5, true},
    {all_reduce, "bfb", "torus:3x4x5", 10, 59.0 / 180, true},
    {gathering, "swing", "ring:64", 6, 99},
    {all_reduce, "swing", "ring:8", 6, 2},
    {all_reduce, "swing", "torus:8x8", 12, 2.0625},
    {all_reduce, "swing", "torus:4x4", 8, 1.875, true},
    {all_reduce, "swing", "ring:10", 8, 2.6},
    {all_reduce, "swing", "ring:20", 10, 3.1},
    {all_reduce, "swing-all-port", "ring:8", 6, 1.125},
    {all_reduce, "swing-all-port", "torus:8x8", 12, 0.5390625},
    {all_reduce, "swing-all-port", "torus:4x8", 12, 0.5625},
    {all_reduce, "swing-all-port", "torus:4x4x4", 12, 0.328125, true},
    {all_reduce, "swing:form=latency", "ring:8", 3, 4},
    {all_reduce, "swing:form=latency", "ring:64", 6, 24},
    {all_reduce, "swing:form=latency", "torus:8x8", 6, 8},
    {all_reduce, "swing:form=latency", "torus:16x16", 8, 14},
    {all_reduce, "swing-all-port:form=latency", "torus:8x8", 6, 2.5},
    {all_reduce, "swing-all-port:form=latency", "torus:16x16", 8, 5},
    {all_reduce, "ternary:form=latency", "ring:9", 2, 4},
    {all_reduce, "ternary:form=latency", "ring:27", 3, 13},
    {scattering, "all-port:half=split", "torus:8x8", 8, 15.75, true},
    {scattering, "all-port:half=plus", "torus:8x8", 8, 18},
    {gathering, "all-port:half=split", "torus:8x8", 8, 15.75, true},
    {all_reduce, "all-port:half=split", "torus:8x8", 16, 0.4921875, true},
    {scattering, "all-port:half=split", "torus:4x8", 8, 10.75},
    {scattering, "all-port:half=plus", "torus:3x5", 4, 5},
    {operations::scatter, "ring-all-port:half=split", "torus:8x8", 8, 15.75, true},
    {operations::scatter, "ring-all-port:half=split", "torus:4x8", 8, 11.75},
    {operations::gather, "ring-all-port:half=plus", "torus:4x4x4", 6, 14},
    {operations::broadcast, "ring-all-port:half=split", "torus:8x8", 16, 0.4921875},
    {operations::reduce, "ring-all-port:half=split", "torus:8x8", 16, 0.4921875},
    {all_reduce, "ternary", "ring:9", 4, 4.0 / 3},
    {all_reduce, "ternary", "ring:27", 6, 2},
    {all_reduce, "ternary", "ring:8", 4, 1.5},
    {all_reduce, "ternary", "torus:5x5", 8, 0.48, true},
    {all_reduce, "ternary", "torus:8x8", 8, 0.703125},
    {scattering, "ternary", "ring:8", 2, 6},
    {exchanging, "ternary", "ring:27", 3, 117},
    {exchanging, "ternary", "torus:8x8", 4, 96},
    {exchanging, "bine", "torus:8x8", 6, 256},
    {exchanging, "bine", "torus:4x4", 4, 32},
    {operations::broadcast, "bine", "torus:8x8", 6, 6},
    {operations::gather, "bine", "torus:8x8", 6, 63, true},
    {operations::broadcast, "circulant:packets=16", "torus:8x8", 21, 3.0625},
    {operations::reduce, "circulant:packets=16", "torus:4x4", 19, 1.75},
    {operations::broadcast, "circulant:packets=3", "complete:5", 5, 5.0 / 3},
};

}  // namespace

TEST_CASE("the newer torus algorithms cost what their constructions say", "[torus-collectives]") {
  for (const Figure& figure : figures) {
    INFO(figure.operation->name << " " << figure.algorithm << " on " << figure.network);
    const Collective collective = with_sum(figure.operation, figure.algorithm);
    CheckOptions options;
    options.all_port = collective.algorithm->ports == Ports::all;
    options.prove_up_to = 0;  // the walks over all algorithms prove delivery
    const CheckResult result =
        check_collective(collective, Topology::parse(figure.network), options);
    CHECK(result.failures == std::vector<std::string>{});
    CHECK(static_cast<double>(result.report.startups) == figure.startups);
    CHECK(result.link_blocks == Approx(figure.contended));
    CHECK(result.rearranged_blocks == 0);
    if (figure.bound) {
      CHECK(result.link_blocks == Approx(*result.lower_bound.transmission_blocks).margin(1));
    }
  }
}

// With the witness, which does not commute, two partial results travel; sums travel alone.
TEST_CASE("mirrored orders on any number of nodes, of operators that commute",
          "[torus-collectives]") {
  for (const auto& [network, contended] :
       {std::pair{"torus:5x5", 2.64}, std::pair{"ring:27", 132.0 / 27}}) {
    const Topology topology = Topology::parse(network);
    const Collective collective = with_sum(all_reduce, "reduce-scatter-allgather:order=mirrored");
    const Bytes bytes = sizeof(std::int32_t) * static_cast<Bytes>(topology.nodes());
    const ScheduleReport report = check_steps(collective, topology, bytes);
    INFO(network);
    CHECK(static_cast<double>(report.contended) / static_cast<double>(bytes) == Approx(contended));
    CHECK(*collective.predict(topology).link_blocks == Approx(contended));
  }
}

TEST_CASE("swing hands on every displacement with the last step that reaches it",
          "[torus-collectives]") {
  for (Rank n = 2; n <= 64; n += 2) {
    const RingRule rule = swing_rule(n);
    const int steps = rule.steps;
    // The last step by which each displacement can begin, by trying all ways.
    std::vector<int> last(static_cast<std::size_t>(n), -1);
    for (unsigned way = 1; way < 1U << steps; ++way) {
      Rank at = 0;
      for (int s = 0; s < steps; ++s) {
        if ((way >> s & 1U) != 0) at += at % 2 == 0 ? swing_hops(s) : -swing_hops(s);
      }
      const auto x = static_cast<std::size_t>(mod(at, n));
      last[x] = std::max(last[x], std::countr_zero(way));
    }
    INFO("ring:" << n);
    for (Rank x = 1; x < n; ++x) {
      const auto& turn = rule.turns[0][static_cast<std::size_t>(x)];
      CHECK(turn.step == last[static_cast<std::size_t>(x)]);
      CHECK(mod(turn.hops - swing_hops(turn.step), n) == 0);
      CHECK(2 * std::abs(turn.hops) <= n);
      // Mirrored: all signs changed.
      const RingRule mirrored = swing_rule(n, true);
      const auto& mirror = mirrored.turns[0][static_cast<std::size_t>(n - x)];
      CHECK((mirror.step == turn.step && mirror.hops == -turn.hops));
    }
  }
}

TEST_CASE("ternary steps hand on every displacement with the last step that begins a sum to it",
          "[torus-collectives]") {
  for (Rank n = 2; n <= 81; ++n) {
    const RingRule rule = ternary_rule(n);
    std::vector<int> hops;
    for (int k = 0; k < rule.steps; ++k) hops.push_back(static_cast<int>(std::pow(3, k)));
    hops.back() = static_cast<int>(std::ceil((n - hops.back()) / 2.0));
    std::vector<int> last(static_cast<std::size_t>(n), -1);
    for (int way = 1; way < std::pow(3, rule.steps); ++way) {
      Rank at = 0;
      int first = -1;
      for (int k = 0, digits = way; k < rule.steps; ++k, digits /= 3) {
        const int sign = digits % 3 == 2 ? -1 : digits % 3;
        if (sign != 0 && first < 0) first = k;
        at += sign * hops[static_cast<std::size_t>(k)];
      }
      const auto x = static_cast<std::size_t>(mod(at, n));
      last[x] = std::max(last[x], first);
    }
    INFO("ring:" << n);
    for (Rank x = 1; x < n; ++x) {
      const auto& turn = rule.turns[0][static_cast<std::size_t>(x)];
      CHECK(turn.step == last[static_cast<std::size_t>(x)]);
      CHECK(std::abs(turn.hops) == hops[static_cast<std::size_t>(turn.step)]);
    }
  }
}

TEST_CASE("a factor of the direct exchange has every pair once, and its arcs keep apart",
          "[torus-collectives]") {
  std::vector<Graph> graphs;
  for (Rank n = 1; n <= 25; ++n) graphs.push_back(Graph::ring(n));
  for (Rank n = 26; n <= 64; n += 2) graphs.push_back(Graph::ring(n));
  for (Rank n = 1; n <= 4; ++n) graphs.push_back(Graph::line(n));
  graphs.push_back(Graph::complete(5));
  for (const Graph& graph : graphs) {
    INFO(graph.name());
    REQUIRE(DirectFactor::admits(graph));
    const DirectFactor factor(graph);
    const Rank n = graph.nodes();
    std::set<std::pair<Rank, Rank>> pairs;
    bool identity = false;
    for (Rank permutation = 0; permutation < n; ++permutation) {
      std::set<std::pair<int, std::int64_t>> links;  // by class
      std::set<int> of_those_who_move, of_those_who_stay;
      bool moves = false;
      for (Rank c = 0; c < n; ++c) {
        const auto [hops, of] = factor.out(permutation, c);
        const Rank to = mod(c + hops, n);
        CHECK(pairs.emplace(c, to).second);
        CHECK((of >= 0 && of < factor.classes()));
        // The same message from the other end.
        const auto in = factor.in(permutation, to);
        CHECK((in.hops == hops && in.move_class == of));
        moves = moves || hops != 0;
        (hops == 0 ? of_those_who_stay : of_those_who_move).insert(of);
        for (int i = 0; graph.has_direction() && i < std::abs(hops); ++i) {
          const int sign = hops > 0 ? 1 : -1;
          const Rank at = graph.moved(c, sign * i);
          const bool up = sign > 0 || graph.moved(at, 1) == graph.moved(at, -1);
          CHECK(links.emplace(of, up ? at : at + n).second);
        }
      }
      identity = identity || !moves;
      for (int of = 0; of < factor.classes(); ++of) {
        const auto used = factor.used(permutation, of);
        CHECK(used.moves == of_those_who_move.contains(of));
        CHECK(used.stays == of_those_who_stay.contains(of));
      }
    }
    CHECK(std::cmp_equal(pairs.size(), n * n));
    CHECK(identity == factor.has_identity());
    if (n >= 8 && graph.wraps()) CHECK(factor.classes() == (n + 7) / 8);
  }
  CHECK_FALSE(DirectFactor::admits(Graph::ring(27)));
  CHECK_FALSE(DirectFactor::admits(Graph::line(5)));
}

TEST_CASE("all factors of direct exchanges on up to 1024 nodes keep their arcs apart",
          "[.][torus-collectives][wide]") {
  // With these, the argument of docs/explanation/direct-product.md covers every product of them.
  std::size_t factors = 0, moves = 0;
  for (Rank n = 2; n <= 1024; ++n) {
    for (const Graph& graph : {Graph::ring(n), Graph::line(n), Graph::complete(n)}) {
      if (!DirectFactor::admits(graph)) continue;
      CAPTURE(graph.name());
      const DirectFactor factor(graph);
      ++factors;
      const auto size = static_cast<std::size_t>(n);
      std::vector<Rank> last_met(size * size, -1);  // by source and destination
      bool once = true, apart = true, matched = true, in_range = true;
      for (Rank permutation = 0; permutation < n; ++permutation) {
        struct Arc {
          int move_class;
          bool down;
          Rank first, end;
        };
        std::vector<Arc> arcs;
        std::vector<bool> reached(size);
        for (Rank c = 0; c < n; ++c) {
          const auto [hops, of] = factor.out(permutation, c);
          const Rank to = mod(c + hops, n);
          in_range = in_range && of >= 0 && of < factor.classes();
          Rank& met = last_met[static_cast<std::size_t>(c) * size + static_cast<std::size_t>(to)];
          once = once && met < 0 && !reached[static_cast<std::size_t>(to)];
          met = permutation, reached[static_cast<std::size_t>(to)] = true;
          const auto in = factor.in(permutation, to);
          matched = matched && in.hops == hops && in.move_class == of;
          ++moves;
          if (!graph.has_direction() || hops == 0) continue;
          // Links of a direction by the lower of their ends.
          const Rank first = hops > 0 ? c : to;
          arcs.push_back({of, hops < 0, first, first + std::abs(hops)});
        }
        std::ranges::sort(arcs, {}, [](const Arc& arc) {
          return std::tuple(arc.move_class, arc.down, arc.first);
        });
        // Each begins where the one before has ended; the last one, which may go on at the ring's
        // beginning, before the first one begins again.
        for (std::size_t i = 0, begin = 0; i < arcs.size(); ++i) {
          const bool last = i + 1 == arcs.size() || arcs[i + 1].move_class != arcs[i].move_class ||
                            arcs[i + 1].down != arcs[i].down;
          apart = apart && arcs[i].end <= (last ? arcs[begin].first + n : arcs[i + 1].first);
          if (last) begin = i + 1;
        }
      }
      CHECK(once);
      CHECK(in_range);
      CHECK(matched);
      if (n > 2) CHECK(apart);  // a ring of two has one cable, whose moves are of two nodes
    }
  }
  CHECK(factors == 1023 + 24 + 500 + 3);
  WARN(factors << " factors, " << moves << " moves");
}

// Of the source: the packets of the first phase are -1 .. -q without base - q, and base; and a node
// sends what it has received before, or what it got last in the phase before.
TEST_CASE("circulant tables meet both conditions of their construction", "[torus-collectives]") {
  for (Rank p = 2; p <= 300; ++p) {
    const Circulant circulant(p);
    const int q = circulant.q();
    bool right = true;
    std::vector<std::vector<int>> table;
    for (Rank r = 0; r < p; ++r) table.push_back(circulant.receives(r));
    for (Rank r = 0; r < p; ++r) {
      const std::vector<int>& receives = table[static_cast<std::size_t>(r)];
      const int base = circulant.base(r);
      std::vector<int> wanted{base};
      for (int e = 1; e <= q; ++e) {
        if (-e != base - q) wanted.push_back(-e);
      }
      std::vector<int> found = receives;
      std::ranges::sort(wanted), std::ranges::sort(found);
      right = right && (r == 0 || found == wanted);
      for (int k = 0; k < q; ++k) {
        const auto to = static_cast<std::size_t>(mod(r + circulant.skip(k), p));
        const int sent = table[to][static_cast<std::size_t>(k)];
        const auto before = receives.begin() + k;
        right = right &&
                (r == 0 ? sent == k
                        : sent == base - q || std::find(receives.begin(), before, sent) != before);
      }
    }
    INFO(p << " nodes");
    CHECK(right);
  }
  // As printed for 5 nodes.
  const Circulant five(5);
  CHECK(five.receives(1) == std::vector{0, -1, -2});
  CHECK(five.receives(2) == std::vector{-3, 1, -1});
  CHECK(five.receives(3) == std::vector{-2, -3, 2});
  CHECK(five.receives(4) == std::vector{-1, -2, 0});
}

TEST_CASE("the newer torus algorithms say why they refuse", "[torus-collectives]") {
  const auto why = [](Operation operation, const char* algorithm, const char* network) {
    return refusal(with_sum(operation, algorithm), Topology::parse(network)).value_or("runs");
  };
  CHECK(why(exchanging, "rotated", "torus:2x4") ==
        "rotated: all dimensions must be lines, or rings of 3 nodes or more; torus:2x4 has ring:2; "
        "use product-multiport-general or shift");
  CHECK_THAT(why(exchanging, "direct-product", "ring:27"),
             Contains("ring:27 has ring:27; use shift"));
  CHECK_THAT(why(exchanging, "direct-product", "mesh:5x4"), Contains("has line:5"));
  CHECK(why(exchanging, "direct-product", "ring:8*complete:3") == "runs");
  CHECK(why(exchanging, "direct-product", "ring:9*complete:3") == "runs");
  CHECK_THAT(why(scattering, "swing", "ring:7"), Contains("an even number of nodes"));
  CHECK_THAT(why(scattering, "swing-all-port", "torus:2x4"), Contains(", 4 or more"));
  CHECK_THAT(why(all_reduce, "swing:form=latency", "torus:4x6"),
             Contains("needs sides of 2^L nodes; torus:4x6 has 6; use form=parts"));
  CHECK_THAT(why(all_reduce, "ternary:form=latency", "ring:8"),
             Contains("needs a ring of 3^K nodes; ring:8 has 8; use form=parts"));
  CHECK_THAT(why(all_reduce, "ternary:form=latency", "torus:3x9"),
             Contains("needs one ring; torus:3x9 has 2 dimensions"));
  CHECK_THAT(why(all_reduce, "reduce-scatter-allgather:order=interleaved", "ring:6"),
             Contains("ring:6 has 6; use order=mirrored"));
  CHECK_THAT(why(all_reduce, "reduce-scatter-allgather:ties=balanced", "ring:8"),
             Contains("use order=mirrored or interleaved"));
  CHECK_THAT(why(all_reduce, "reduce-scatter-allgather:pattern=ring:order=mirrored", "ring:8"),
             Contains("use pattern=doubling"));
  CHECK_THAT(why(gathering, "bruck:order=far-first:bundle=3", "ring:8"),
             Contains("bundle=3; need a power of 2"));
  CHECK_THAT(why(gathering, "bruck:bundle=4", "ring:8"), Contains("use order=far-first"));
  Arguments arguments;
  arguments.reduction = find_reduction("compose", "affine");
  for (const char* const algorithm :
       {"swing", "ternary", "reduce-scatter-allgather:order=interleaved"}) {
    INFO(algorithm);
    CHECK_THAT(
        refusal(parse_collective(all_reduce, algorithm, arguments), Topology::parse("ring:8"))
            .value_or("runs"),
        Contains("needs a commutative operator; compose is not"));
  }
}
