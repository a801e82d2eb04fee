// Status, cuts and flows of a network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/topology_bounds.hpp"

#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/topology/flows.hpp"
#include "wormcube/runtime/topology/theory.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

/// "27/2 (13.5)", "8".
std::string fraction_text(const Rational& fraction) {
  return fraction.denominator() == 1
             ? fraction.text()
             : fmt::format("{} ({:.6g})", fraction.text(), fraction.value());
}

/// A theoretical figure, or why there is none. \param figure  may throw UsageError
template <class F>
auto figure_or_reason(F&& figure, std::string& reason) -> std::optional<std::invoke_result_t<F>> {
  try {
    return figure();
  } catch (const UsageError& error) {
    reason = error.what();
    return std::nullopt;
  }
}

std::string_view to_string(theory::CutBound::Searched searched) {
  switch (searched) {
    case theory::CutBound::Searched::all:
      return "all cuts";
    case theory::CutBound::Searched::dimensions:
      return "all cuts across one dimension";
    case theory::CutBound::Searched::some:
      return "some cuts";
  }
  return "";
}

void add_fraction(Json& result, const std::string& key, const std::optional<Rational>& fraction,
                  const std::string& reason) {
  put(result, key, fraction ? Json(fraction->text()) : Json(nullptr), reason);
  put(result, key + "_value", fraction ? Json(fraction->value()) : Json(nullptr), reason);
}

}  // namespace

void show_theory(const Topology& topology, Rank node, const OutputOptions& output, Json& result) {
  std::string reason;
  const auto status = figure_or_reason([&] { return theory::average_status(topology); }, reason);
  const theory::CutBound cut = theory::cut_bound(topology);
  const auto excluded = theory::excludes(topology);
  const std::int64_t tree = excluded ? 0 : theory::tree_bound(topology).value_or(0);  // 0: none
  std::optional<Rational> distance;
  for (const char* key : {"status_min", "status_max"}) {
    if (!status) put(result, key, nullptr, reason);
  }
  if (node >= 0 && !status) put(result, "status", nullptr, reason);
  if (status) {
    distance = theory::average_distance(topology);
    const auto [least, most] = theory::status_range(topology);
    print_fact(
        output, "average status",
        fmt::format("{}, of single nodes {}", fraction_text(*status),
                    least == most ? std::to_string(least) : fmt::format("{} to {}", least, most)));
    print_fact(output, "average distance", fraction_text(*distance));
    // On a tree the busiest node forwards more than the average node receives.
    const std::int64_t steps = std::max(status->ceil(), tree);
    print_fact(output, "one-port bound",
               fmt::format("{} step{} of total exchange{}", steps, steps == 1 ? "" : "s",
                           steps > status->ceil() ? " (the busiest node of a tree)" : ""));
    result["status_min"] = least;
    result["status_max"] = most;
    if (node >= 0) {
      result["status"] = theory::status(topology, node);
      print_fact(output, fmt::format("status of {}", node),
                 std::to_string(theory::status(topology, node)));
    }
  } else {
    print_fact(output, "average status", "none: " + reason);
  }
  add_fraction(result, "average_status", status, reason);
  add_fraction(result, "average_distance", distance, reason);
  add_fraction(result, "bound_one_port", status, reason);
  print_fact(
      output, "all-port bound",
      fmt::format("{} step{}: {} | {} nodes, {} {} (of {})", fraction_text(cut.steps),
                  cut.steps == Rational(1) ? "" : "s", cut.part, topology.nodes() - cut.part,
                  cut.cables, cut.cables == 1 ? "cable" : "cables", to_string(cut.searched)));
  result["bound_cut_searched"] = to_string(cut.searched);
  result["bound_cut_cables"] = cut.cables;
  result["bound_cut_part"] = cut.part;
  add_fraction(result, "bound_cut", cut.steps, {});
  result["bound_tree"] = nullptr;
  if (excluded) {
    result["bound_tree_reason"] = *excluded;
  } else if (tree > 0) {
    result["bound_tree"] = tree;
  } else {
    result["bound_tree_reason"] = "more than one route between some nodes";
  }
}

void show_link_bounds(const Topology& topology, const OutputOptions& output, Json& result) {
  Json bounds;
  std::string text;
  const auto add = [&](const char* operation, const theory::LinkBound& bound) {
    bounds[operation] = {
        {"blocks", bound.blocks}, {"tight", bound.tight}, {"source", bound.source}};
    text += fmt::format("{}{} {} ({}{})", text.empty() ? "" : "; ", operation, cell(bound.blocks),
                        bound.source, bound.tight ? "" : ", or more");
  };
  add("broadcast", theory::broadcast_bound(topology));
  add("allgather", theory::allgather_bound(topology));
  add("allreduce", theory::allreduce_bound(topology));
  add("alltoall", theory::exchange_bound(topology));
  print_fact(output, "links allow", text);
  const auto cables = theory::edge_connectivity(topology);
  put(result, "edge_connectivity", cables ? Json(*cables) : Json(nullptr),
      topology.nodes() == 1 ? "one node" : "it needs too many max-flows");
  result["link_bounds"] = std::move(bounds);
}

}  // namespace wormcube::cli
