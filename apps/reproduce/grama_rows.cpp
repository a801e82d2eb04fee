// The rows of the chapter.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/reproduce/grama.hpp"

#include <numeric>
#include <utility>

namespace wormcube::apps {

namespace {

/// k_broadcast, k_alltoall: ranks 0 .. k-1 give.
Arguments first_ranks(Rank k) {
  Arguments arguments;
  arguments.sources.resize(static_cast<std::size_t>(k));
  std::iota(arguments.sources.begin(), arguments.sources.end(), Rank{0});
  return arguments;
}
/// shift: by this distance.
Arguments by(std::int64_t distance) {
  Arguments arguments;
  arguments.by = distance;
  return arguments;
}

using Figures = std::vector<ChapterFigure>;

/// Start-ups and blocks of time, and further figures.
Figures costs(std::string_view steps_formula, double steps, std::string_view blocks_formula,
              double blocks, const Figures& more = {}) {
  Figures figures{{ChapterUnit::startups, steps_formula, steps},
                  {ChapterUnit::contended, blocks_formula, blocks}};
  figures.insert(figures.end(), more.begin(), more.end());
  return figures;
}
ChapterRow row(std::string_view place, Operation operation, std::string_view algorithm,
               std::string_view network, Figures figures, std::string_view errata = {},
               Arguments arguments = {}, bool every_distance = false) {
  return {place,
          operation,
          algorithm,
          network,
          std::move(figures),
          errata,
          std::move(arguments),
          every_distance};
}

}  // namespace

std::span<const ChapterRow> chapter_rows() {
  using namespace operations;
  using enum ChapterUnit;
  static const std::vector<ChapterRow> table{
      row("4.1.1", broadcast, "naive", "ring:64", costs("p - 1", 63, "p - 1", 63)),
      row("Eq. 4.1", broadcast, "halving", "ring:64", costs("log p", 6, "log p", 6)),
      row("Eq. 4.1", broadcast, "halving", "line:64", costs("log p", 6, "log p", 6)),
      row("Eq. 4.1", broadcast, "mesh", "mesh:8x8", costs("log p", 6, "log p", 6)),
      row("Eq. 4.1", broadcast, "mesh", "torus:8x8", costs("log p", 6, "log p", 6)),
      row("Eq. 4.1", broadcast, "mesh", "torus:4x4x4", costs("log p", 6, "log p", 6)),
      row("Eq. 4.1", broadcast, "recursive-doubling", "hypercube:6", costs("log p", 6, "log p", 6)),
      row("Eq. 4.1", broadcast, "tree", "tree:64", costs("log p", 6, "log p", 6)),
      row("Eq. 4.1, dual", reduce, "halving", "ring:64", costs("log p", 6, "log p", 6)),
      row("Eq. 4.1, dual", reduce, "mesh", "mesh:8x8", costs("log p", 6, "log p", 6)),
      row("Eq. 4.1, dual", reduce, "hypercube", "hypercube:6", costs("log p", 6, "log p", 6), "8"),
      row("Eq. 4.2", allgather, "ring", "ring:64", costs("p - 1", 63, "p - 1", 63)),
      row("Eq. 4.2", allgather, "ring", "line:64", costs("p - 1", 63, "p - 1", 63)),
      row("Alg. 4.5", reduce_scatter, "ring", "ring:64", costs("p - 1", 63, "p - 1", 63), "8, 9"),
      row("Eq. 4.3", allgather, "mesh", "mesh:8x8", costs("2(sqrt p - 1)", 14, "p - 1", 63)),
      row("Eq. 4.3", allgather, "mesh", "torus:8x8", costs("2(sqrt p - 1)", 14, "p - 1", 63)),
      row("P4.4", reduce_scatter, "mesh", "mesh:8x8", costs("2(sqrt p - 1)", 14, "p - 1", 63)),
      row("P4.4", reduce_scatter, "mesh", "torus:8x8", costs("2(sqrt p - 1)", 14, "p - 1", 63)),
      row("4.2.4", k_broadcast, "pipelined", "ring:64",
          {{startups, "p", 64, 63}, {contended, "p - 1", 63}}, "10", first_ranks(64)),
      row("Eq. 4.4", allgather, "hypercube", "hypercube:6", costs("log p", 6, "p - 1", 63)),
      row("Alg. 4.8", reduce_scatter, "hypercube", "hypercube:6", costs("log p", 6, "p - 1", 63),
          "8, 9"),
      row("Eq. 4.5", allreduce, "recursive-doubling", "hypercube:6", costs("log p", 6, "log p", 6)),
      row("Alg. 4.9", scan, "hypercube", "hypercube:6", costs("log p", 6, "log p", 6), "8"),
      row("Eq. 4.6", scatter, "hypercube", "hypercube:6", costs("log p", 6, "p - 1", 63)),
      row("Eq. 4.6", gather, "hypercube", "hypercube:6", costs("log p", 6, "p - 1", 63)),
      row("Eq. 4.7", alltoall, "ring", "ring:64", costs("p - 1", 63, "p(p - 1)/2", 2016), "11"),
      row("Eq. 4.7, remark", alltoall, "ring-bidirectional", "ring:64",
          costs("p - 1", 63, "p^2/4", 1024), "11"),
      row("Eq. 4.8, P4.21", alltoall, "mesh", "mesh:8x8",
          costs("2(sqrt p - 1)", 14, "p(sqrt p - 1)", 448, {{rearranged, "p", 64}})),
      row("Eq. 4.8, P4.21", alltoall, "mesh", "torus:8x8",
          costs("2(sqrt p - 1)", 14, "p(sqrt p - 1)", 448, {{rearranged, "p", 64}})),
      row("Eq. 4.9", alltoall, "hypercube-combine", "hypercube:6",
          costs("log p", 6, "(p/2) log p", 192, {{rearranged, "p log p", 384}}), "12"),
      row("Eq. 4.10", alltoall, "hypercube-pairwise", "hypercube:6",
          costs("p - 1", 63, "p - 1", 63), "12"),
      row("4.6.1", shift, "unit-steps", "ring:64", {{startups, "min(q, p - q)", 32}}, "", by(32)),
      row("4.6.1", shift, "unit-steps", "torus:4x4", {{startups, "example, q = 3", 1, 2}}, "1",
          by(3)),
      row("4.6.1", shift, "unit-steps", "torus:8x8", {{startups, "sqrt p + 1, worst q", 9, 8}}, "2",
          Arguments(), true),
      row("Eq. 4.11", shift, "gray-code", "hypercube:6",
          costs("2 log p - 1", 11, "2 log p - 1", 11), "3", by(63)),
      row("Eq. 4.12, P4.22", shift, "direct", "hypercube:6", costs("1", 1, "1", 1), "3",
          Arguments(), true),
      row("Eq. 4.13", broadcast, "scatter-allgather:allgather=doubling", "hypercube:6",
          costs("2 log p", 12, "2(p - 1)/p", 126.0 / 64)),
      row("4.7.1", broadcast, "scatter-allgather:allgather=neighbours", "ring:64",
          costs("log p + p - 1", 69, "2(p - 1)/p", 126.0 / 64)),
      row("4.7.1", broadcast, "scatter-allgather:allgather=neighbours", "mesh:8x8",
          costs("log p + 2(sqrt p - 1)", 20, "2(p - 1)/p", 126.0 / 64)),
      row("P4.17, P4.19", reduce, "reduce-scatter-gather", "hypercube:6",
          costs("2 log p", 12, "2(p - 1)/p", 126.0 / 64)),
      row("4.7.1, dual", reduce, "reduce-scatter-gather:pattern=mesh", "ring:64",
          costs("p - 1 + log p", 69, "2(p - 1)/p", 126.0 / 64)),
      row("4.7.1, dual", reduce, "reduce-scatter-gather:pattern=mesh", "mesh:8x8",
          costs("2(sqrt p - 1) + log p", 20, "2(p - 1)/p", 126.0 / 64)),
      row("Eq. 4.14", allreduce, "reduce-scatter-allgather", "hypercube:6",
          costs("2 log p", 12, "2(p - 1)/p", 126.0 / 64), "17"),
      row("4.8", allreduce, "reduce-scatter-allgather:pattern=mesh", "ring:64",
          costs("2(p - 1)", 126, "2(p - 1)/p", 126.0 / 64)),
      row("4.8", allreduce, "reduce-scatter-allgather:pattern=mesh", "mesh:8x8",
          costs("4(sqrt p - 1)", 28, "2(p - 1)/p", 126.0 / 64)),
      row("4.7.2", broadcast, "hypercube-all-port", "hypercube:6", costs("log p", 6, "1", 1), "18"),
      row("4.7.2", allgather, "hypercube-all-port", "hypercube:6",
          costs("log p", 6, "(p - 1)/log p", 10.5), "14"),
      row("4.7.2", scatter, "hypercube-all-port", "hypercube:6",
          costs("log p", 6, "(p - 1)/log p", 10.5), "14"),
      row("4.7.2", alltoall, "hypercube-all-port", "hypercube:6",
          {{startups, "log p", 6}, {contended, "(p - 1)/log p", 10.5, 32}}, "14"),
      row("Table 4.1", broadcast, "recursive-doubling", "hypercube:6",
          costs("log p", 6, "log p", 6)),
      row("Table 4.1", broadcast, "scatter-allgather:allgather=doubling", "hypercube:6",
          costs("2 log p", 12, "2(p - 1)/p", 126.0 / 64)),
      row("Table 4.1", allgather, "hypercube", "hypercube:6", costs("log p", 6, "p - 1", 63), "20"),
      row("Table 4.1", allreduce, "recursive-doubling", "hypercube:6",
          costs("log p", 6, "log p", 6)),
      row("Table 4.1", allreduce, "reduce-scatter-allgather", "hypercube:6",
          costs("2 log p", 12, "2(p - 1)/p", 126.0 / 64)),
      row("Table 4.1", scatter, "hypercube", "hypercube:6", costs("log p", 6, "p - 1", 63)),
      row("Table 4.1", alltoall, "hypercube-pairwise", "hypercube:6",
          costs("p - 1", 63, "p - 1", 63), "14"),
      row("Table 4.1", shift, "direct", "hypercube:6", costs("1", 1, "1", 1), "", by(20)),
      // The last column: on a ring, whose bisection has 2 cables, the time for long messages is the
      // hypercube's where the column says Theta(1), and p/2 times that where it says Theta(p).
      row("Table 4.1, bandwidth", broadcast, "scatter-allgather:allgather=neighbours", "ring:64",
          {{bandwidth, "Theta(1): 1", 1}}),
      row("Table 4.1, bandwidth", reduce, "reduce-scatter-gather:pattern=mesh", "ring:64",
          {{bandwidth, "Theta(1): 1", 1}}),
      row("Table 4.1, bandwidth", allgather, "ring", "ring:64", {{bandwidth, "Theta(1): 1", 1}},
          "20"),
      row("Table 4.1, bandwidth", reduce_scatter, "ring", "ring:64",
          {{bandwidth, "Theta(1): 1", 1}}, "8, 20"),
      row("Table 4.1, bandwidth", allreduce, "reduce-scatter-allgather:pattern=mesh", "ring:64",
          {{bandwidth, "Theta(1): 1", 1}}, "17"),
      row("Table 4.1, bandwidth", scatter, "halving", "ring:64", {{bandwidth, "Theta(1): 1", 1}}),
      row("Table 4.1, bandwidth", gather, "halving", "ring:64", {{bandwidth, "Theta(1): 1", 1}}),
      row("Table 4.1, bandwidth", alltoall, "ring", "ring:64", {{bandwidth, "Theta(p): p/2", 32}}),
      row("Table 4.1, bandwidth", shift, "direct", "ring:64", {{bandwidth, "Theta(p): p/2", 32}},
          "", by(32)),
      row("P4.1", broadcast, "binomial", "line:50", costs("ceil(log p)", 6, "ceil(log p)", 6)),
      row("P4.2", broadcast, "recursive-doubling:order=ascending", "hypercube:6",
          costs("log p", 6, "log p", 6), "5"),
      row("P4.2", broadcast, "recursive-doubling:order=ascending", "line:64",
          costs("log p", 6, "p - 1", 63), "5"),
      row("P4.2", broadcast, "recursive-doubling:order=ascending:ties=balanced", "ring:64",
          {{startups, "log p", 6}, {contended, "p - 1", 63, 47}}, "4"),
      row("P4.3", allgather, "ring", "ring:64", costs("p - 1", 63, "p - 1", 63)),
      row("P4.3", allgather, "hypercube:order=ascending", "line:64",
          costs("log p", 6, "(p^2 - 1)/3", 1365), "4"),
      row("P4.5", allgather, "hypercube:order=descending", "tree:64",
          costs("log p", 6, "(p/2) log p", 192)),
      row("P4.5", allgather, "ring", "tree:64", costs("p - 1", 63, "p - 1", 63)),
      row("P4.6", allreduce, "allgather", "ring:64",
          costs("p - 1", 63, "p - 1", 63, {{time, "101(p - 1)", 6363}}), "19"),
      row("P4.6", allreduce, "reduce-broadcast", "ring:64",
          costs("2 log p", 12, "2 log p", 12, {{time, "202 log p", 1212}}), "19"),
      row("P4.6", allreduce, "recursive-doubling", "line:64",
          costs("log p", 6, "p - 1", 63, {{time, "100 log p + p - 1", 663}}), "19"),
      row("P4.6", allreduce, "ring-vectors", "ring:64", costs("p - 1", 63, "p - 1", 63), "19"),
      row("P4.7", scatter, "halving", "line:64", costs("log p", 6, "p - 1", 63)),
      row("P4.7", scatter, "mesh", "mesh:8x8", costs("log p", 6, "p - 1", 63)),
      row("P4.8", reduce_scatter, "hypercube", "hypercube:6",
          costs("log p", 6, "p - 1", 63, {{combined, "p - 1", 63}}), "8, 9"),
      row("P4.10", exscan, "hypercube", "hypercube:6",
          {{startups, "log p", 6}, {combined, "2(log p - 1)", 10}}, "8"),
      row("P4.9", broadcast, "", "hypercube:6",
          {{at_distance, "C(6, 0)", 1},
           {at_distance, "C(6, 1)", 6},
           {at_distance, "C(6, 2)", 15},
           {at_distance, "C(6, 3)", 20},
           {at_distance, "C(6, 4)", 15},
           {at_distance, "C(6, 5)", 6},
           {at_distance, "C(6, 6)", 1}},
          "16"),
      row("P4.11", alltoall, "mesh", "mesh:8x8", {{bisections, "4(1 - 1/sqrt p)", 3.5}}),
      row("P4.11", alltoall, "mesh", "torus:8x8", {{bisections, "4(1 - 1/sqrt p)", 3.5, 7}}, "13"),
      row("P4.12", allgather, "ring", "line:64", costs("p - 1", 63, "p - 1", 63)),
      row("P4.12", allgather, "neighbour-exchange:lines=exchange", "line:64",
          {{startups, "2(p - 1)", 126, 63}, {contended, "2(p - 1)", 126, 125}}),
      row("P4.12", alltoall, "neighbour-exchange", "line:64",
          {{contended, "p(p - 1)", 4032, 3969}}),
      row("P4.13", broadcast, "neighbours", "torus:4x4x4", costs("6", 6, "6", 6)),
      row("P4.13", allgather, "mesh", "torus:4x4x4", costs("9", 9, "p - 1", 63)),
      row("P4.13", scatter, "ring", "torus:4x4x4", costs("9", 9, "p - 1", 63)),
      row("P4.13", alltoall, "mesh", "torus:4x4x4", costs("9", 9, "3 * 96", 288)),
      row("P4.14", broadcast, "", "torus:4x4x4", {{cables, "3p", 192}}, "22"),
      row("P4.16", k_broadcast, "hypercube:order=ascending", "hypercube:6",
          costs("log p", 6, "k log(p/k) + k - 1", 31), "7", first_ranks(8)),
      row("P4.16", k_broadcast, "hypercube:order=descending", "hypercube:6",
          {{startups, "log p", 6}, {contended, "k log(p/k) + k - 1", 31, 10}}, "6", first_ranks(8)),
      row("P4.18", k_broadcast, "split", "hypercube:6",
          costs("2 log(p/k) + log k", 9, "k - 1 + 2 - 2k/p", 8.75), "7", first_ranks(8)),
      row("P4.20", k_alltoall, "hypercube", "hypercube:6",
          costs("log(p/k) + k - 1", 10, "p - 1", 63), "7", first_ranks(8)),
      row("P4.23", shift, "direct", "hypercube:6", {{route, "log p - gamma(20)", 4}}, "3", by(20)),
      row("P4.24", broadcast, "mesh", "mesh:8x8", costs("log p", 6, "log p", 6)),
      row("P4.24", scatter, "mesh", "mesh:8x8", costs("log p", 6, "p - 1", 63)),
      row("P4.24", allgather, "hypercube:order=ascending", "mesh:8x8",
          {{contended, "counted", 189}}, "5"),
      row("P4.24", allgather, "hypercube:order=descending", "mesh:8x8",
          {{contended, "counted", 108}}, "5"),
      row("P4.24", alltoall, "hypercube-combine", "mesh:8x8", {{contended, "counted", 448}}, "11"),
      row("P4.24", alltoall, "hypercube-pairwise", "mesh:8x8", {{contended, "counted", 219}}, "11"),
      row("P4.26", broadcast, "recursive-doubling", "complete:64", costs("log p", 6, "log p", 6)),
      row("P4.26", allgather, "hypercube", "complete:64", costs("log p", 6, "p - 1", 63)),
      row("P4.26", scatter, "hypercube", "complete:64", costs("log p", 6, "p - 1", 63)),
      row("P4.26", alltoall, "hypercube-pairwise", "complete:64", costs("p - 1", 63, "p - 1", 63)),
  };
  return table;
}

}  // namespace wormcube::apps
