// The table of Kim et al., and the errors in it.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/reproduce/paper.hpp"

#include <cmath>

#include <fmt/core.h>

namespace wormcube::apps {
namespace {

// The printed formulas are for N x N; the rows of A_{n-1} for N a power of two, as log N is.
std::optional<double> side(const Topology& topology) {
  if (topology.dimensions() != 2 || topology.size(0) != topology.size(1)) return {};
  return topology.size(0);
}

template <double (*formula)(double)>
std::optional<double> of_side(const Topology& topology) {
  const auto n = side(topology);
  return n ? std::optional(formula(*n)) : std::nullopt;
}

constexpr auto none = [](const Topology&) -> std::optional<double> { return {}; };

double recursive_startups(double n) { return 3 * std::log2(n) - 1; }
double recursive_transmission(double n) { return 2 * n * n * n - 2 * n * n; }
double recursive_rearrangement(double n) { return 4 * n * n * std::log2(n) * (std::log2(n) - 1); }
double a1_startups(double n) { return n / 4 + 5; }
double a1_transmission(double n) { return (n * n * n + 10 * n * n) / 4; }
double a1_rearrangement(double n) { return 10 * n * n; }
double ring_startups(double n) { return n / 2 + 2; }
double ring_transmission(double n) { return (n * n * n + 4 * n * n) / 4; }
double diagonal_rearrangement(double n) { return (n * n * n + 2 * n * n) / 2; }
double suh_rearrangement(double n) { return 3 * n * n; }
double recursive_space(double n) { return n * n * n / 2; }
double other_space(double n) { return n * n; }

PaperRow divided(std::string_view label, std::string_view divisions) {
  return {.label = label,
          .algorithm = "kim-recursive",
          .options = divisions,
          .startups = {"not printed", none},
          .transmission = {"not printed", none},
          .rearrangement = {"not printed", none},
          .in_print = false};
}

}  // namespace

const Paper& kim_paper() {
  static const Paper paper{
      .name = "kim",
      .citation =
          "Kim et al., complete exchange algorithms in wormhole-routed torus networks: A_{n-1} and "
          "A1, Table 1",
      .shape = "torus",
      .default_networks = {"torus:4x4", "torus:8x8", "torus:16x16", "torus:32x32"},
      .rows =
          {
              {.label = "A_{n-1}",
               .algorithm = "kim-recursive",
               .startups = {"3 log N - 1", of_side<recursive_startups>},
               .transmission = {"2N^3 - 2N^2", of_side<recursive_transmission>},
               .rearrangement = {"4N^2 log N (log N - 1)", of_side<recursive_rearrangement>},
               .working_space = {"N^3/2", of_side<recursive_space>}},
              divided("A2", ":divisions=2"),
              divided("A3", ":divisions=3"),
              {.label = "A1",
               .algorithm = "kim-a1",
               .startups = {"N/4 + 5", of_side<a1_startups>},
               .transmission = {"(N^3 + 10N^2)/4", of_side<a1_transmission>},
               .rearrangement = {"10N^2", of_side<a1_rearrangement>}},
              {.label = "A1 by [10]",
               .algorithm = "kim-a1",
               .options = ":core=diagonal",
               .startups = {"N/4 + 5", of_side<a1_startups>},
               .transmission = {"not printed", none},
               .rearrangement = {"not printed", none},
               .in_print = false},
              {.label = "[10] Tseng",
               .algorithm = "tseng-diagonal",
               .startups = {"N/2 + 2", of_side<ring_startups>},
               .transmission = {"(N^3 + 4N^2)/4", of_side<ring_transmission>},
               .rearrangement = {"(N^3 + 2N^2)/2", of_side<diagonal_rearrangement>},
               .working_space = {"N^2", of_side<other_space>}},
              {.label = "[6] Suh",
               .algorithm = "suh-torus",
               .startups = {"N/2 + 2", of_side<ring_startups>},
               .transmission = {"(N^3 + 4N^2)/4", of_side<ring_transmission>},
               .rearrangement = {"3N^2", of_side<suh_rearrangement>},
               .working_space = {"N^2", of_side<other_space>}},
          },
      .errata =
          {
              {"kim-1", "sec. 3.1, Table 1: transmission of A1",
               "(N^3 + 10N^2)/4; phases 3 and 4 have one step each",
               "(N^3 + 18N^2)/4: phases 3 and 4 have two steps each, and stage 2 has N/4 + 2"},
              {"kim-2", "sec. 2.3, set of masters", "{P(i,j): j = 2i + m}",
               "{P(2p+m, 2q+m): m = 0, 1}: row and column agree modulo 2"},
              {"kim-3", "stage 1, step 2", "all nodes send", "only slaves send (Fig. 4b)"},
              {"kim-4", "phase 3", "'mod 4 = Even/Odd', 'q = 0 or 1', 'Even' twice in step 2",
               "the parity of p + q; q modulo 4; the second pair of step 2 is 'Odd'"},
              {"kim-5", "phase 3, moves along a column", "the sign is decided by q",
               "by p modulo 4; read literally with Suh's choice of blocks, delivery fails: `check "
               "alltoall --algorithm kim-a1:phases=printed`"},
              {"kim-6", "phase 4", "the sign is decided by the parity of p + q",
               "by that of q in step 1 and of p in step 2; read literally, delivery fails"},
              {"kim-7", "definition 2", "offsets j = 0, 1 and levels i < n - 1",
               "offsets 0 .. 2^i - 1 and levels i <= n - 1"},
              {"kim-8", "definition 3 and abstract",
               "P(0,1), P(1,0) are slaves of P(1,0), P(1,1); 'distribute to the rest of the master "
               "nodes'",
               "slaves of P(0,0), P(1,1); to the slaves"},
              {"kim-9", "sec. 2.2", "3 (log N) ts; about 18 MB for 16 x 16 and m = 1024",
               "3 log N - 1, as in Table 1; N^3 m / 2 = 2 MiB (16 MiB is N = 32): see working "
               "space"},
              {"kim-10", "Table 1: transmission of A_{n-1}", "2N^3 - 2N^2", "(7N^3 - 10N^2)/4"},
              {"kim-11", "Table 1: rearrangement of A_{n-1}", "4N^2 log N (log N - 1)",
               "2N^3 - 4N^2 with our layout; N^3/2 blocks are permuted at least once, so the "
               "printed term cannot be a bound for large N"},
              {"kim-12", "sec. 3.2, 4", "start-ups are better 'by a factor of 2'",
               "only for large N: A1 has 7 against 6 at N = 8, 9 against 10 at 16, 13 against 18 "
               "at "
               "32"},
              {"kim-13", "Table 1, N = 4 and 8", "A1: N/4 + 5 and 10N^2; [6]: 3N^2",
               "A1 has 5 start-ups at 4, and 64 and 384 blocks rearranged at 4 and 8; [6] 16 at "
               "4: small networks have steps without data, which are left out"},
              {"kim-14", "sec. 3.2, N not 2^n", "imaginary nodes fill the network up",
               "the paper does not say which nodes do their work; kim-a1 refuses such networks"},
              {"kim-15", "sec. 3.2, 512 x 512", "cells of 4 x 4",
               "not defined; kim-recursive:divisions=2 comes closest"},
          },
      .network_of_size = [](int n) { return fmt::format("torus:{0}x{0}", n); },
  };
  return paper;
}

}  // namespace wormcube::apps
