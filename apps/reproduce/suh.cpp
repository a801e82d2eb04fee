// The tables of Suh, Shin and Yalamanchili, and the errors in them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/reproduce/paper.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace wormcube::apps {
namespace {

// Table 1 is for even sides, longest first; n = 1 is not covered.
struct Mesh {
  double dimensions, longest, nodes;
};
std::optional<Mesh> even_mesh(const Topology& topology) {
  const auto sizes = topology.sizes();
  if (sizes.size() < 2 || std::ranges::any_of(sizes, [](Rank a) { return a % 2 != 0; })) return {};
  return Mesh{static_cast<double>(sizes.size()), static_cast<double>(std::ranges::max(sizes)),
              static_cast<double>(topology.nodes())};
}
std::optional<double> startups(const Topology& topology) {
  const auto mesh = even_mesh(topology);
  return mesh ? std::optional(mesh->dimensions / 2 * mesh->longest) : std::nullopt;
}
std::optional<double> transmission(const Topology& topology) {
  const auto mesh = even_mesh(topology);
  return mesh ? std::optional(mesh->dimensions / 4 * mesh->longest * mesh->nodes) : std::nullopt;
}
std::optional<double> rearrangement(const Topology& topology) {
  const auto mesh = even_mesh(topology);
  return mesh ? std::optional(mesh->dimensions * mesh->nodes) : std::nullopt;
}

// Table 2 is for 2^d x 2^d.
std::optional<double> exponent(const Topology& topology) {
  if (topology.dimensions() != 2 || topology.size(0) != topology.size(1)) return {};
  const double d = std::log2(topology.size(0));
  return d == std::floor(d) ? std::optional(d) : std::nullopt;
}
template <double (*formula)(double)>
std::optional<double> of_exponent(const Topology& topology) {
  const auto d = exponent(topology);
  return d ? std::optional(formula(*d)) : std::nullopt;
}
double quadrant_startups(double d) { return 3 * (std::exp2(d) - 1); }
double quadrant_transmission(double d) { return 3 * (std::exp2(d) - 1) * std::exp2(2 * d - 2); }
double cyclic_startups(double d) { return std::exp2(d); }
double cyclic_transmission(double d) { return std::exp2(3 * d - 1); }
double level_rearrangement(double d) { return (d - 1) * std::exp2(2 * d); }

PaperRow proposed(std::string_view label, std::string_view order) {
  return {.label = label,
          .algorithm = "suh-mesh",
          .options = order,
          .startups = {"(n/2) a_1", startups},
          .transmission = {"(n/4) a_1^2 a_2 .. a_n", transmission},
          .rearrangement = {"n a_1 .. a_n", rearrangement},
          .in_print = order == ":order=paper"};
}

}  // namespace

const Paper& suh_paper() {
  static const Paper paper{
      .name = "suh",
      .citation =
          "Suh, Shin, Yalamanchili, complete exchange on general multidimensional meshes: Tables 1 "
          "and 2",
      .shape = "mesh",
      .default_networks = {"mesh:4x4", "mesh:8x8", "mesh:16x16", "mesh:6x10", "mesh:5x7",
                           "mesh:8x8x8", "mesh:16x4x4", "mesh:4x6x8"},
      .rows =
          {
              proposed("proposed", ":order=paper"),
              proposed("parity (ours)", ":order=parity"),
              proposed("overlap (ours)", ":order=overlap"),
              {.label = "[2] Bokhari",
               .algorithm = "bokhari-quadrant",
               .startups = {"3(2^d - 1)", of_exponent<quadrant_startups>},
               .transmission = {"3(2^d - 1) 2^(2d-2)", of_exponent<quadrant_transmission>},
               .rearrangement = {"(d - 1) 2^(2d)", of_exponent<level_rearrangement>}},
              {.label = "[10] Sundar",
               .algorithm = "sundar-cyclic",
               .startups = {"2^d", of_exponent<cyclic_startups>},
               .transmission = {"2^(3d-1)", of_exponent<cyclic_transmission>},
               .rearrangement = {"(d - 1) 2^(2d)", of_exponent<level_rearrangement>}},
          },
      .errata =
          {
              {"suh-1", "sec. 3.2, phase 3 step 2", "EE or OE go to row r+1, OO or EO to r-1",
               "EE or EO go to r+1, OO or OE to r-1; as printed, messages leave the mesh and "
               "blocks "
               "stay undelivered"},
              {"suh-2", "sec. 3.3, index of the array", "hops in the direction of the ring",
               "for odd coordinates cell and index disagree: address by cell, or reverse odd "
               "rings; as printed, 567 of 1296 blocks end up in the wrong place on 6 x 6"},
              {"suh-3", "sec. 3.3, B[u, 0]; sec. 3.2, idle groups",
               "B[u, 0] is u hops along phase 1; EE and OO finish 'phase 1' early",
               "B[0, v] is v hops along phase 1; they finish phase 2 early"},
              {"suh-4", "title, sec. 4", "an arbitrary number of nodes in each dimension",
               "worked out for even sides only; an odd side costs one start-up more than the next "
               "even one"},
              {"suh-5", "sec. 4, recursion over dimensions; Table 1 for unequal sides",
               "start from one dimension; (n/2) a_1 start-ups",
               "the base must be the two-dimensional rule, or two rings share a line; for unequal "
               "sides fewer start-ups suffice (16 x 4 x 4: 17, not 24)"},
              {"suh-6", "sec. 5, Table 2", "advantageous in rearrangement",
               "2 against d - 1: better from d = 4 on, equal at d = 3, worse at d = 1, 2"},
              {"suh-7", "Table 1: rearrangement for n >= 3", "n a_1 .. a_n",
               "n rearrangements cannot make all messages of the last n steps contiguous; we send "
               "them in pieces"},
          },
      .network_of_size = [](int n) { return fmt::format("mesh:{0}x{0}", n); },
  };
  return paper;
}

}  // namespace wormcube::apps
