// The products of Dimakopoulos and Dimopoulos.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/reproduce/dimakopoulos.hpp"

#include "wormcube/collectives/alltoall/product/factor.hpp"

#include <array>
#include <utility>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> exchanges{{
    {"A1", "product-naive"},
    {"A2", "product"},
    {"A3", "product-multiport"},
    {"A3G", "product-multiport-general"},
}};

}  // namespace

const std::string_view dimakopoulos_citation =
    "Dimakopoulos, Dimopoulos, A Theory for Total Exchange in Multidimensional Interconnection "
    "Networks, IEEE TPDS 9(7), 1998";

std::span<const char* const> dimakopoulos_networks() {
  static constexpr std::array networks{"hypercube:3",
                                       "hypercube:4",
                                       "hypercube:6",
                                       "torus:4x4",
                                       "torus:5x5",
                                       "torus:6x6",
                                       "torus:8x8",
                                       "torus:10x10",
                                       "torus:4x4x4",
                                       "torus:3x3x3x3",
                                       "mesh:3x3",
                                       "mesh:4x4",
                                       "mesh:5x5",
                                       "mesh:2x2",
                                       "ghc:4x4",
                                       "ghc:4x3",
                                       "ghc:5x3x2",
                                       "line:2*ring:6",
                                       "ring:5*complete:4*line:3"};
  return networks;
}

std::span<const Erratum> dimakopoulos_errata() {
  static constexpr std::array<Erratum, 7> errata{{
      {"dimakopoulos-1", "sec. 5, Algorithm A3", "offsets are left-rotated by r positions",
       "by r - 1, because round 1 is in natural order; modulo n - 1, because modulo n gives no "
       "exchange"},
      {"dimakopoulos-2", "Theorem 5 applied to rings", "all-port rings meet bound (4)",
       "(4) is n^2/8, which is not an integer for n = 2 modulo 4, so A3 is not optimal there (C6 x "
       "C6: 30 steps; 27 suffice)"},
      {"dimakopoulos-3", "rings of 2 nodes", "n^2/8, n^2/4",
       "one cable: 1 step with one port and with all"},
      {"dimakopoulos-4", "Theorems 3 and 5", "bounds (3) and (4) in steps",
       "equality refers to the rational number, not rounded up"},
      {"dimakopoulos-5", "linear arrays, one port", "optimal exchanges exist",
       "they exist, but above bound (3) from 3 nodes on: middle nodes send (n^2 - 1)/2 or n^2/2 - "
       "1, so Theorem 3 does not cover meshes"},
      {"dimakopoulos-6", "Algorithm A3", "port model", "all ports: its two parts run at once"},
      {"dimakopoulos-7", "formulas (1) to (5)", "lost in the copy we have",
       "restored: distances add up over dimensions; s(v), AS(G)"},
  }};
  return errata;
}

std::vector<double> pieces_of_products(std::span<const Topology> topologies,
                                       const CheckOptions& options) {
  std::vector<CheckedRow> rows;
  for (const Topology& topology : topologies) {
    require_factors("dimakopoulos", topology, Ports::one);
    for (const auto& [label, name] : exchanges) {
      const Collective collective(find_algorithm(operations::alltoall, name));
      if (!refusal(collective, topology)) rows.push_back({collective, &topology});
    }
  }
  return require_to_check("reproduce dimakopoulos", rows, options);
}

ProductRow reproduce_product(const Topology& topology, const CheckOptions& options,
                             const std::function<void()>& each) {
  require_factors("dimakopoulos", topology, Ports::one);
  ProductRow row;
  row.network = topology.name();
  row.nodes = topology.nodes();
  row.average_status = theory::average_status(topology);
  row.average_distance = theory::average_distance(topology);
  row.cut_bound = theory::cut_bound(topology).steps;
  for (const auto& [label, name] : exchanges) {
    const Algorithm& algorithm = find_algorithm(operations::alltoall, name);
    const Collective collective(algorithm);
    if (const auto reason = refusal(collective, topology)) {
      row.refused.push_back(fmt::format("{}: {}", label, *reason));
      continue;
    }
    CheckOptions with_ports = options;
    with_ports.all_port = algorithm.ports == Ports::all;
    ProductExchange& exchange = row.exchanges.emplace_back();
    exchange.label = label;
    exchange.check = check_collective(collective, topology, with_ports);
    if (each) each();
  }
  return row;
}

}  // namespace wormcube::apps
