// Networks at the cost of another one: links that are slower where there are more of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/collectives/core/cost.hpp"

#include <span>
#include <string>

#include <CLI/CLI.hpp>

namespace wormcube::cli {

/// --equal-cost-to and --equal-cost-by.
struct EqualCostOptions {
  std::string network, by = "links";
  CLI::Option* by_option = nullptr;

  bool given() const { return !network.empty(); }
  /// Throws UsageError for an option without effect.
  void require(const std::string& cost) const;
  /// What multiplies the time of a byte on a link; 1 unless given(). Throws UsageError if the
  /// networks have different numbers of nodes.
  double factor(const Topology& topology) const;
  CostModel applied(CostModel model, const Topology& topology) const;
  /// A '#' line for each network, if given().
  void print(const OutputOptions& output, std::span<const Topology> topologies) const;

 private:
  /// "tw x 0.6667 on torus:8x8: 256 links, hypercube:6 has 384".
  std::string text(const Topology& topology) const;
};
void add_equal_cost_options(CLI::App& app, EqualCostOptions& options);

}  // namespace wormcube::cli
