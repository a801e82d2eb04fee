// wormcube reproduce: a paper's tables, as printed, corrected, and counted from the programs.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options.hpp"
#include "wormcube/apps/cli/output.hpp"
#include "wormcube/apps/cli/program.hpp"
#include "wormcube/apps/cli/reproduce_products.hpp"
#include "wormcube/apps/reproduce/paper.hpp"
#include "wormcube/runtime/error.hpp"

#include <memory>

#include <fmt/core.h>

namespace wormcube::cli {

using namespace apps;

namespace {

struct Options {
  std::string paper;
  std::vector<std::string> on;
  std::vector<int> sizes;
  CheckOptions check{.prove_up_to = 1024};
  OutputOptions output;
};

Json figure_json(const Figure& figure) {
  return {{"formula", figure.formula},
          {"printed", json_value(figure.printed)},
          {"corrected", json_value(figure.corrected)},
          {"counted", json_value(figure.counted)}};
}

Json row_json(const std::string& network, const ReproducedRow& row) {
  const CheckResult& check = row.check;
  Json json{{"topology", network},
            {"row", row.row->label},
            {"algorithm", row.row->algorithm},
            {"options", options_json(check.collective.options)},
            {"remark", check.collective.algorithm->remark},
            {"startups", figure_json(row.startups)},
            {"transmission_blocks", figure_json(row.transmission)},
            {"rearranged_blocks", figure_json(row.rearrangement)},
            {"peak_blocks", json_value(check.peak_blocks)},
            {"link_load_max", check.report.link_load_max},
            {"port_violations", check.report.port_violations},
            {"delivered", json_value(check.delivered)},
            {"exactly_once", json_value(check.exactly_once)},
            {"passed", row.passed()}};
  if (!check.delivered) json["delivered_reason"] = check.proof;
  return json;
}

Table rows_table() {
  return Table({{"row", "", true},
                {"algorithm", "", true},
                {"startups", "printed"},
                {"", "corrected"},
                {"", "counted"},
                {"transmission", "printed"},
                {"(blocks)", "corrected"},
                {"", "counted"},
                {"rearrangement", "printed"},
                {"(blocks)", "corrected"},
                {"", "counted"},
                {"link load"},
                {"delivered"},
                {"passed"}});
}

void add_row(Table& table, const ReproducedRow& row) {
  std::vector<std::string> cells{std::string(row.row->label), std::string(row.row->algorithm)};
  for (const Figure* figure : {&row.startups, &row.transmission, &row.rearrangement}) {
    cells.push_back(cell(figure->printed));
    cells.push_back(cell(figure->corrected));
    cells.push_back(cell(figure->counted));
  }
  cells.push_back(cell(static_cast<double>(row.check.report.link_load_max)));
  cells.push_back(cell(row.check.delivered));
  cells.emplace_back(row.passed() ? "yes" : "NO");
  table.add(std::move(cells));
}

Json errata_json(const Paper& paper) {
  Json errata = Json::array();
  for (const Erratum& erratum : paper.errata) {
    errata.push_back({{"name", erratum.name},
                      {"place", erratum.place},
                      {"printed", erratum.printed},
                      {"correct", erratum.correct}});
  }
  return errata;
}

void print_formulas(const OutputOptions& output, const Paper& paper) {
  for (const PaperRow& row : paper.rows) {
    if (!row.in_print) continue;
    print_note(output, fmt::format("printed for {}: startups {}; transmission {}; rearrangement {}",
                                   row.label, row.startups.text, row.transmission.text,
                                   row.rearrangement.text));
  }
}

ExitCode reproduce_paper(const Options& options) {
  const OutputOptions& output = options.output;
  output.validate();
  if (options.paper == "dimakopoulos") {
    std::vector<std::string> products = options.on;
    for (const int size : options.sizes) products.push_back(fmt::format("torus:{0}x{0}", size));
    return reproduce_products(products, options.check, output);
  }
  const Paper& paper = find_paper(options.paper);
  std::vector<std::string> networks = options.on;
  for (const int size : options.sizes) networks.push_back(paper.network_of_size(size));
  if (networks.empty()) networks = paper.default_networks;
  const std::vector<Topology> topologies = parse_topologies(networks);

  print_setting(output, "paper", paper.citation);
  print_setting(output, "proof", fmt::format("up to {} nodes", options.check.prove_up_to));
  print_formulas(output, paper);
  Json rows = Json::array();
  Json refused = Json::array();
  bool all_passed = true;
  Progress progress(output, "reproduce");
  for (std::size_t i = 0; i < topologies.size(); ++i) {
    progress(static_cast<long>(i), static_cast<long>(topologies.size()));
    const ReproducedTable table = reproduce(paper, topologies[i], options.check);
    Table printed = rows_table();
    for (const ReproducedRow& row : table.rows) {
      add_row(printed, row);
      rows.push_back(row_json(table.network, row));
      all_passed = all_passed && row.passed();
    }
    progress.clear();
    print_setting(output, "topology", topology_text(topologies[i]));
    print_table(output, printed);
    for (const ReproducedRow& row : table.rows) {
      const std::string_view remark = row.check.collective.algorithm->remark;
      if (!remark.empty()) print_note(output, fmt::format("{}: {}", row.row->label, remark));
    }
    for (const std::string& reason : table.refused) {
      print_note(output, "not applicable: " + reason);
      refused.push_back({{"topology", table.network}, {"reason", reason}});
    }
  }
  for (const Erratum& erratum : paper.errata) {
    print_note(output, fmt::format("erratum {}: {}: printed: {}; correct: {}", erratum.name,
                                   erratum.place, erratum.printed, erratum.correct));
  }
  write_results(output,
                {Json{{"paper", paper.name},
                      {"citation", paper.citation},
                      {"rows", rows},
                      {"refused", refused},
                      {"errata", errata_json(paper)},
                      {"passed", all_passed}}},
                true);
  return all_passed ? passed : failed;
}

}  // namespace

Action add_reproduce(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App& app = *program.add_subcommand(
      "reproduce", "A paper's tables: as printed, corrected, and counted from the programs");
  app.add_option("PAPER", options->paper,
                 "kim (complete exchange on tori), suh (complete exchange on meshes) or "
                 "dimakopoulos (total exchange in products of any graphs)")
      ->required();
  add_on_option(app, options->on, false);
  app.add_option("--sizes", options->sizes, "Sides N of N x N networks, separated by commas")
      ->type_name("N,N,..")
      ->delimiter(',')
      ->check(at_least(1));
  app.add_option("--prove-up-to", options->check.prove_up_to,
                 "Prove delivery by a run with marked blocks on up to so many nodes")
      ->type_name("NODES")
      ->check(at_least(0))
      ->capture_default_str();
  add_output_options(app, options->output, false);
  app.footer(
      "Columns: for start-ups, transmission and rearrangement in turn what the paper's formula "
      "gives ('-': it gives none for this network), what the corrected formula gives, and what is "
      "counted from the recorded program. A row passes if delivery, ports and links are right and "
      "the count equals the corrected formula.\n\n"
      "Examples:\n"
      "  wormcube reproduce kim                          N = 4, 8, 16, 32\n"
      "  wormcube reproduce kim --sizes 8,16,64          other sizes\n"
      "  wormcube reproduce suh --on mesh:6x10,mesh:5x7  any mesh, odd sides too\n"
      "  wormcube reproduce suh --json suh.json          with every erratum\n"
      "  wormcube reproduce dimakopoulos --on 'ring:5*complete:4*line:3'");
  return [options] { return reproduce_paper(*options); };
}

}  // namespace wormcube::cli
