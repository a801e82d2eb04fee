// wormcube reproduce wang-tseng: Figure 8 as a table and a picture, the theorems as a table.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/reproduce_broadcasts.hpp"

#include "wormcube/apps/cli/commands/reproduce_json.hpp"
#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/output/progress.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/apps/draw/picture.hpp"
#include "wormcube/apps/reproduce/wang_tseng.hpp"
#include "wormcube/apps/reproduce/wang_tseng_steps.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace wormcube::cli {

using namespace apps;

namespace {

Json series_json(const BroadcastFigure& figure) {
  Json all = Json::array();
  for (const FigureSeries& series : figure.series) {
    Json points = Json::array();
    for (std::size_t i = 0; i < series.steps.size(); ++i) {
      if (!series.steps[i]) continue;
      points.push_back({{"n", figure.sides[i]}, {"steps", json_value(series.steps[i])}});
    }
    all.push_back({{"name", series.name},
                   {"counted", series.counted},
                   {"source", series.source},
                   {"points", points}});
  }
  return all;
}

Json claim_json(const BroadcastClaim& claim) {
  const bool has_algorithm = !claim.algorithm.empty();
  Json json{{"topology", claim.network},
            {"place", claim.place},
            {"figure", claim.figure},
            {"formula", claim.formula},
            {"errata", claim.erratum.empty() ? Json::array() : Json::array({claim.erratum})},
            {"passed", claim.passed()}};
  put(json, "algorithm", has_algorithm ? Json(claim.algorithm) : Json(nullptr),
      "the figure belongs to the network, not to an algorithm");
  put(json, "printed", json_value(claim.printed), "the paper gives none for this network");
  put(json, "corrected", json_value(claim.corrected), "no formula is known");
  put(json, "counted", json_value(claim.counted),
      has_algorithm ? "the network is too large to record (--count-up-to)"
                    : "a bound is not counted");
  put(json, "as_printed", json_value(claim.as_printed()),
      claim.printed ? "nothing was counted" : "the paper gives none for this network");
  return json;
}

/// What was found so far.
struct Found {
  std::optional<BroadcastFigure> figure;
  Json rows = Json::array(), refused = Json::array();
  std::vector<std::string> failures;

  Json json(std::optional<bool> passed) const {
    Json all = reproduced_json("wang-tseng", wang_tseng_citation, rows, refused,
                               wang_tseng_errata(), passed);
    if (figure) {
      all["figure"] = 8;
      all["series"] = series_json(*figure);
    }
    all["failures"] = failures;
    return all;
  }
};

/// Figure 8: a row for each n.
Table figure_table(const BroadcastFigure& figure) {
  std::vector<Table::Column> columns{{"n"}};
  for (const FigureSeries& series : figure.series) columns.push_back({std::string(series.name)});
  Table table(columns);
  for (std::size_t i = 0; i < figure.sides.size(); ++i) {
    std::vector<std::string> cells{std::to_string(figure.sides[i])};
    for (const FigureSeries& series : figure.series) cells.push_back(cell(series.steps[i]));
    table.add(std::move(cells));
  }
  return table;
}

Table claims_table() {
  return Table({{.head = "topology", .text = true, .is_name = true},
                {.head = "place", .text = true, .drop = 3},
                {.head = "figure", .text = true},
                {.head = "algorithm", .text = true, .drop = 1},
                {.head = "formula", .text = true, .drop = 4},
                {.head = "printed"},
                {.head = "corrected"},
                {.head = "counted"},
                {.head = "as printed"},
                {.head = "passed", .verdict = true},
                {.head = "erratum", .text = true, .drop = 2}});
}

void add_claim(Table& table, const BroadcastClaim& claim) {
  table.add({claim.network, std::string(claim.place), std::string(claim.figure),
             claim.algorithm.empty() ? "-" : std::string(claim.algorithm),
             std::string(claim.formula), cell(claim.printed), cell(claim.corrected),
             cell(claim.counted), claim.as_printed() ? cell(claim.as_printed()) : "-",
             claim.passed() ? "yes" : "NO", std::string(claim.erratum)});
}

void reproduce_figure(const ReproduceBroadcasts& options, Progress& progress, Results& results,
                      Found& found) {
  const OutputOptions& output = options.output;
  const std::vector<Rank> sides = options.sizes.empty() ? broadcast_figure_sides() : options.sizes;
  progress.doing(fmt::format("{} sides", sides.size()));
  long done = 0;
  found.figure =
      reproduce_broadcast_figure(sides, options.count_up_to, [&](const BroadcastFigure& so_far) {
        progress(++done, figure_points(sides));
        found.figure = so_far;
        results.keep_whole(found.json(std::nullopt));
      });
  found.failures = found.figure->failures;
  print_table(output, figure_table(*found.figure));
  for (const FigureSeries& series : found.figure->series)
    print_note(output, fmt::format("{}: {}", series.name, series.source));
}

void reproduce_claims(const ReproduceBroadcasts& options, const std::vector<Topology>& topologies,
                      Progress& progress, Results& results, Found& found) {
  Table table = claims_table();
  std::vector<std::string> notes;
  for (const Topology& topology : topologies) {
    progress.doing(topology.name());
    const BroadcastClaims claims = reproduce_theorems(topology, options.check, options.count_up_to);
    for (const BroadcastClaim& claim : claims.claims) {
      add_claim(table, claim);
      found.rows.push_back(claim_json(claim));
      for (const std::string& failure : claim.failures) {
        found.failures.push_back(
            fmt::format("{} on {}: {}", claim.algorithm, claim.network, failure));
      }
      if (!claim.passed() && claim.failures.empty()) {
        found.failures.push_back(
            fmt::format("{} of {} on {}: does not match the "
                        "corrected value",
                        claim.figure, claim.algorithm, claim.network));
      }
    }
    for (const std::string& reason : claims.refused) {
      notes.push_back("not applicable: " + reason);
      found.refused.push_back({{"topology", topology.name()}, {"reason", reason}});
    }
    results.keep_whole(found.json(std::nullopt));
  }
  print_table(options.output, table);
  for (const std::string& note : notes) print_note(options.output, note);
}

}  // namespace

ExitCode reproduce_broadcasts(Context& context, const ReproduceBroadcasts& options) {
  const OutputOptions& output = options.output;
  const bool has_figure = options.on.empty(), has_claims = options.sizes.empty();
  if (!has_figure && !has_claims) {
    throw UsageError(
        "reproduce wang-tseng: --on is for the theorems, --sizes for the sides of Figure 8; use "
        "one of them");
  }
  if (!has_figure && !options.svg.empty()) {
    throw UsageError(
        "reproduce wang-tseng: --svg draws Figure 8, which --on leaves out; omit --on");
  }
  if (std::ranges::any_of(options.sizes, [](int n) { return n < 2; }))
    throw UsageError("reproduce wang-tseng: a side of 1; need 2 or more");
  require_writable(options.svg);
  const PictureFormat format = picture_format(options.svg);
  require_picture_format(format);
  const std::vector<Topology> topologies =
      has_claims ? parse_topologies(options.on.empty() ? theorem_networks() : options.on)
                 : std::vector<Topology>{};
  for (const Topology& topology : topologies) require_torus(topology);

  print_setting(output, "paper", std::string(wang_tseng_citation));
  print_setting(output, "counted",
                fmt::format("from programs on up to {} nodes, root N/3; `formula`: not counted",
                            options.count_up_to));
  Progress progress(context, output, "reproduce wang-tseng");
  Results results(context, output, {});
  Found found;
  results.keep_whole(found.json(std::nullopt));
  if (has_figure) {
    print_fact(output, "figure", "8: steps on n x n x n");
    reproduce_figure(options, progress, results, found);
  }
  if (has_claims) {
    print_fact(output, "theorems", "steps on n x .. x n, k dimensions");
    reproduce_claims(options, topologies, progress, results, found);
  }
  for (const std::string& failure : found.failures) print_note(output, "FAILED: " + failure);
  print_errata(output, wang_tseng_errata());
  const bool is_passed = found.failures.empty();
  print_fact(output, "passed",
             is_passed ? "yes: every broadcast was delivered, in as many steps as its formula gives"
                       : "NO");
  results.keep_whole(found.json(is_passed));
  results.finish(true);
  if (!options.svg.empty()) {
    write_text(context, options.svg,
               picture(plot_svg(plot_of(*found.figure), apps::PlotLook::picture), format));
  }
  return is_passed ? passed : failed;
}

}  // namespace wormcube::cli
