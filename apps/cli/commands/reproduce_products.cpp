// wormcube reproduce dimakopoulos: products, their status and bounds, their exchanges.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/reproduce_products.hpp"

#include "wormcube/apps/cli/commands/reproduce_json.hpp"
#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/output/progress.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/apps/reproduce/dimakopoulos.hpp"

#include <fmt/core.h>

namespace wormcube::cli {

using namespace apps;

namespace {

/// "met": equal to the bound; "best": no integer lies between.
std::string verdict_cell(const CheckResult& check) {
  if (check.bound_met() == true) return "met";
  return check.optimal() == true ? "best" : "no";
}

Json row_json(const ProductRow& row) {
  Json exchanges = Json::array();
  for (const ProductExchange& exchange : row.exchanges) {
    const CheckResult& check = exchange.check;
    Json json{{"label", exchange.label},
              {"algorithm", check.collective.algorithm->name},
              {"ports", to_string(check.collective.algorithm->ports)},
              {"steps", check.report.startups},
              {"lower_bound", check.lower_bound.exact->text()},
              {"lower_bound_source", check.lower_bound.source},
              {"met", check.bound_met() == true},
              {"optimal", check.optimal() == true},
              {"peak_blocks", json_value(check.peak_blocks)}};
    add_remark(json, *check.collective.algorithm);
    put(json, "predicted", json_value(check.predicted.startups), "the source gives no formula");
    put(json, "delivered", json_value(check.delivered), check.proof);
    put(json, "exactly_once", json_value(check.exactly_once), check.arrivals);
    put(json, "passed", json_value(check.verdict()), check.proof);
    exchanges.push_back(std::move(json));
  }
  return {{"topology", row.network},
          {"nodes", row.nodes},
          {"average_status", row.average_status.text()},
          {"average_distance", row.average_distance.text()},
          {"cut_bound", row.cut_bound.text()},
          {"exchanges", exchanges}};
}

void add_row(Table& table, const ProductRow& row) {
  std::vector<std::string> cells{row.network, fmt::format("{}", row.nodes),
                                 row.average_distance.text(), row.average_status.text(),
                                 row.cut_bound.text()};
  std::optional<bool> passed = true;
  for (const char* label : {"A1", "A2", "A3", "A3G"}) {
    const auto exchange = std::ranges::find(row.exchanges, label, &ProductExchange::label);
    const bool runs = exchange != row.exchanges.end();
    cells.push_back(runs ? fmt::format("{} {:<4}", exchange->check.report.startups,
                                       verdict_cell(exchange->check))
                         : "- -   ");
    if (!runs || passed == false) continue;
    if (const auto verdict = exchange->check.verdict(); verdict != true) passed = verdict;
  }
  cells.emplace_back(passed == false ? "NO" : cell(passed));
  table.add(std::move(cells));
}

}  // namespace

ExitCode reproduce_products(Context& context, const std::vector<std::string>& networks,
                            const CheckOptions& check, const OutputOptions& output) {
  std::vector<std::string> names = networks;
  if (names.empty()) names.assign(dimakopoulos_networks().begin(), dimakopoulos_networks().end());
  const std::vector<Topology> topologies = parse_topologies(names);
  Progress progress(context, output, "reproduce dimakopoulos");
  RowsDone rows_done(progress, pieces_of_products(topologies, check));

  print_setting(output, "paper", dimakopoulos_citation);
  print_setting(output, "proof", fmt::format("up to {} nodes", check.prove_up_to));
  Table table({{.head = "network", .text = true, .cut = 14},
               {.head = "nodes"},
               {.head = "average distance", .wide = true},
               {.head = "AS (3)"},
               {.head = "cut (4)"},
               {.head = "A1", .unit = "steps"},
               {.head = "A2", .unit = "steps"},
               {.head = "A3", .unit = "steps"},
               {.head = "A3G", .unit = "steps"},
               {.head = "passed"}});
  Json rows = Json::array();
  Json refused = Json::array();
  Results results(context, output, {});
  const auto keep = [&](std::optional<bool> passed) {
    results.keep_whole(reproduced_json("dimakopoulos", dimakopoulos_citation, rows, refused,
                                       dimakopoulos_errata(), passed));
  };
  keep({});
  std::vector<std::string> notes;
  bool all_passed = true;
  for (std::size_t i = 0; i < topologies.size(); ++i) {
    progress.doing(topologies[i].name());
    const ProductRow row =
        reproduce_product(topologies[i], check, [&rows_done] { rows_done.add(); });
    add_row(table, row);
    rows.push_back(row_json(row));
    for (const ProductExchange& exchange : row.exchanges) {
      all_passed = all_passed && exchange.check.passed();
      for (const std::string& failure : exchange.check.failures) {
        notes.push_back(fmt::format("{}: {}: {}", row.network, exchange.label, failure));
      }
    }
    for (const std::string& reason : row.refused) {
      notes.push_back("not applicable: " + reason);
      refused.push_back({{"topology", row.network}, {"reason", reason}});
    }
    keep({});
  }
  print_table(output, table);
  print_note(output,
             "Each step moves one block. A1 and A2 use one port and are compared with bound (3), "
             "the average status AS (or with a tree's busiest node or a cut, if that is higher). "
             "A3 and A3G use all ports and are compared with bound (4) (or with all hops divided "
             "by all links, if that is higher). A3G is our extension.");
  print_note(output,
             "met: equal to the bound; best: no integer lies between them; no: above the bound "
             "(but possibly still optimal)");
  for (const std::string& note : notes) print_note(output, note);
  print_errata(output, dimakopoulos_errata());
  keep(all_passed);
  results.finish(true);
  return all_passed ? passed : failed;
}

}  // namespace wormcube::cli
