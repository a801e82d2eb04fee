// Networks at the cost of another one.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/equal_cost.hpp"

#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

/// What the cut that limits a total exchange lets through: |V1| |V2| / cables. Of networks with as
/// many nodes and cuts into halves it is inverse to the cables of the bisection.
double through_cut(const Topology& topology) { return theory::cut_bound(topology).steps.value(); }

}  // namespace

void EqualCostOptions::require(const std::string& cost) const {
  if (!given()) {
    if (by_option->count() == 0) return;
    throw UsageError("--equal-cost-by has no effect without --equal-cost-to NETWORK");
  }
  if (cost == "formula") return;
  throw UsageError(
      fmt::format("--equal-cost-to changes the modelled time only; --cost {} does not use it: use "
                  "--cost formula",
                  cost));
}

double EqualCostOptions::factor(const Topology& topology) const {
  if (!given()) return 1;
  const Topology other = parse_topology(network);
  if (other.nodes() != topology.nodes()) {
    throw UsageError(
        fmt::format("--equal-cost-to {}: it has {} nodes, {} has {}; compare networks "
                    "of the same number of nodes",
                    other.name(), other.nodes(), topology.name(), topology.nodes()));
  }
  if (topology.nodes() == 1) return 1;
  if (by == "bisection") return through_cut(other) / through_cut(topology);
  return static_cast<double>(topology.links()) / static_cast<double>(other.links());
}

void EqualCostOptions::print(const OutputOptions& output,
                             std::span<const Topology> topologies) const {
  for (const Topology& topology : topologies) {
    if (given()) print_setting(output, "equal cost", text(topology));
  }
}

CostModel EqualCostOptions::applied(CostModel model, const Topology& topology) const {
  const double slower = factor(topology);
  model.transfer_us *= slower;
  if (model.link_us) *model.link_us *= slower;
  return model;
}

std::string EqualCostOptions::text(const Topology& topology) const {
  const Topology other = parse_topology(network);
  const auto size = [&](const Topology& of) {
    if (by == "links") return fmt::format("{} links", of.links());
    return fmt::format("an exchange bound of {} steps", theory::cut_bound(of).steps.text());
  };
  return fmt::format("tw x {} on {}: {}, {} has {}", cell(factor(topology)), topology.name(),
                     size(topology), other.name(), size(other));
}

void add_equal_cost_options(CLI::App& app, EqualCostOptions& options) {
  const std::string group = "Cost model (for `auto` and modelled times)";
  app.add_option("--equal-cost-to", options.network,
                 "Give every network the same cost as this one, which must have the same number of "
                 "nodes: a network with half as many links gets links that are twice as fast")
      ->type_name("NETWORK")
      ->group(group);
  options.by_option =
      app.add_option(
             "--equal-cost-by", options.by,
             "With --equal-cost-to: what determines the cost. links: the number of links; "
             "bisection: the steps of a total exchange through the cut that limits it, which "
             "are the nodes on one side times those on the other, divided by the cables")
          ->type_name("links|bisection")
          ->check(one_of({"links", "bisection"}))
          ->capture_default_str()
          ->group(group);
}

}  // namespace wormcube::cli
