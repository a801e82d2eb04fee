// wormcube reproduce: a paper's tables, as printed, corrected, and counted from the programs.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/commands/reproduce_broadcasts.hpp"
#include "wormcube/apps/cli/commands/reproduce_chapter.hpp"
#include "wormcube/apps/cli/commands/reproduce_json.hpp"
#include "wormcube/apps/cli/commands/reproduce_products.hpp"
#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/core/time_limited.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/call.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/output/progress.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/apps/reproduce/paper.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <memory>

#include <fmt/core.h>

namespace wormcube::cli {

using namespace apps;

namespace {

struct ReproduceCommand {
  std::string paper;
  std::vector<std::string> on;
  std::vector<int> sizes;
  CheckOptions check{.prove_up_to = 1024, .record_pieces = 1'000'000'000};
  Rank count_up_to = most_counted_nodes;
  const CLI::Option* count_up_to_option = nullptr;
  std::string svg;
  double time_limit = 0;
  OutputOptions output;
};

/// Whether the program's count is the printed one. Passing is another question: it compares with
/// the corrected formula.
std::optional<bool> is_as_printed(const Figure& figure) {
  if (!figure.printed || !figure.counted) return std::nullopt;
  return *figure.printed == *figure.counted;
}

constexpr std::string_view too_large = "the network is too large to record (--count-up-to)";

Json figure_json(const Figure& figure) {
  Json json{{"formula", figure.formula}};
  put(json, "printed", json_value(figure.printed), "the paper gives none for this network");
  put(json, "corrected", json_value(figure.corrected), "no formula is known");
  put(json, "counted", json_value(figure.counted), too_large);
  put(json, "as_printed", json_value(is_as_printed(figure)),
      figure.printed ? too_large : "the paper gives none for this network");
  return json;
}

Json row_json(const std::string& network, const ReproducedRow& row) {
  Json json{{"topology", network},
            {"row", row.row->label},
            {"algorithm", row.row->algorithm},
            {"options", options_json(row.collective.options)},
            {"startups", figure_json(row.startups)},
            {"transmission_blocks", figure_json(row.transmission)},
            {"rearranged_blocks", figure_json(row.rearrangement)},
            {"working_blocks", figure_json(row.working_space)}};
  add_remark(json, *row.collective.algorithm);
  if (!row.check) {
    for (const char* key : {"peak_blocks", "link_load_max", "port_violations", "delivered",
                            "exactly_once", "passed"}) {
      put(json, key, nullptr, too_large);
    }
    return json;
  }
  const CheckResult& check = *row.check;
  json["peak_blocks"] = json_value(check.peak_blocks);
  json["link_load_max"] = check.report.link_load_max;
  json["port_violations"] = check.report.port_violations;
  put(json, "delivered", json_value(check.delivered), check.proof);
  put(json, "exactly_once", json_value(check.exactly_once), check.arrivals);
  put(json, "passed", json_value(row.verdict()), check.proof);
  return json;
}

/// For rows that are printed one by one.
Table rows_table(const Paper& paper) {
  constexpr std::size_t width = 8;  // of a count with eight digits
  std::vector<std::string> labels, algorithms;
  for (const PaperRow& row : paper.rows) {
    labels.emplace_back(row.label);
    algorithms.emplace_back(row.algorithm);
  }
  return Table({{.head = "row", .text = true, .names = labels, .drop = 1},
                {.head = "algorithm", .text = true, .names = algorithms},
                {.head = "figure", .text = true, .names = {"working space"}},
                {.head = "unit", .text = true, .names = {"blocks"}, .drop = 2},
                {.head = "printed", .width = width},
                {.head = "corrected", .width = width},
                {.head = "counted", .width = width},
                {.head = "as printed"},
                {.head = "link load", .wide = true},
                {.head = "delivered", .wide = true},
                {.head = "passed"}});
}

/// Four lines, one for each figure.
void print_row(const OutputOptions& output, const Table& table, const ReproducedRow& row) {
  if (!output.text()) return;
  std::string text;
  for (const auto& [name, unit, figure] :
       {std::tuple("startups", "steps", &row.startups),
        std::tuple("transmission", "blocks", &row.transmission),
        std::tuple("rearrangement", "blocks", &row.rearrangement),
        std::tuple("working space", "blocks", &row.working_space)}) {
    text += table.row_text(
        {std::string(row.row->label), std::string(row.row->algorithm), name, unit,
         cell(figure->printed), cell(figure->corrected), cell(figure->counted),
         figure->printed ? cell(is_as_printed(*figure)) : "-",
         row.check ? cell(static_cast<double>(row.check->report.link_load_max)) : "-",
         row.check ? cell(row.check->delivered) : "?", !row.passed() ? "NO" : cell(row.verdict())},
        Table::style(output));
  }
  print_data(text);
  flush_output();
}

void print_formulas(const OutputOptions& output, const Paper& paper) {
  for (const PaperRow& row : paper.rows) {
    if (!row.in_print) continue;
    print_note(output,
               fmt::format("printed for {}: startups {}; transmission {}; rearrangement {}; "
                           "working space {}",
                           row.label, row.startups.text, row.transmission.text,
                           row.rearrangement.text, row.working_space.text));
  }
}

ExitCode reproduce_paper(Context& context, const ReproduceCommand& options) {
  const CommandLimit limit(context, milliseconds_of(options.time_limit));
  const OutputOptions& output = options.output;
  output.validate();
  if ((options.paper == "dimakopoulos" || options.paper == "grama") &&
      options.count_up_to_option->count() > 0) {
    throw UsageError(fmt::format(
        "--count-up-to has no effect on reproduce {}: everything is counted", options.paper));
  }
  if (options.paper == "dimakopoulos") {
    std::vector<std::string> products = options.on;
    for (const int size : options.sizes) products.push_back(fmt::format("torus:{0}x{0}", size));
    return reproduce_products(context, products, options.check, output);
  }
  if (options.paper == "wang-tseng") {
    return reproduce_broadcasts(context, {.on = options.on,
                                          .sizes = options.sizes,
                                          .check = options.check,
                                          .count_up_to = options.count_up_to,
                                          .svg = options.svg,
                                          .output = output});
  }
  if (options.paper == "grama" && !(options.on.empty() && options.sizes.empty())) {
    throw UsageError("reproduce grama: its rows have networks of their own; omit --on and --sizes");
  }
  if (!options.svg.empty())
    throw UsageError(fmt::format("reproduce {}: --svg needs a figure, but this paper has tables",
                                 options.paper));
  if (options.paper == "grama") return reproduce_chapter(context, options.check, output);
  const Paper& paper = find_paper(options.paper);
  std::vector<std::string> networks = options.on;
  for (const int size : options.sizes) networks.push_back(paper.network_of_size(size));
  if (networks.empty()) networks = paper.default_networks;
  const std::vector<Topology> topologies = parse_topologies(networks);
  require_rows(paper, topologies);
  Progress progress(context, output, fmt::format("reproduce {}", paper.name));
  RowsDone rows_done(progress,
                     pieces_to_reproduce(paper, topologies, options.check, options.count_up_to));

  print_setting(output, "paper", paper.citation);
  print_setting(output, "proof", fmt::format("up to {} nodes", options.check.prove_up_to));
  print_setting(output, "counted",
                fmt::format("up to {} nodes; larger networks: formulas", options.count_up_to));
  Json rows = Json::array();
  Json refused = Json::array();
  Results results(context, output, {});
  const auto keep = [&](std::optional<bool> passed) {
    results.keep_whole(
        reproduced_json(paper.name, paper.citation, rows, refused, paper.errata, passed));
  };
  keep({});
  bool all_passed = true;
  std::vector<std::string> notes;  // printed below the last table, each once
  const auto note = [&](std::string text) {
    if (std::ranges::find(notes, text) == notes.end()) notes.push_back(std::move(text));
  };
  for (std::size_t i = 0; i < topologies.size(); ++i) {
    progress.doing(topologies[i].name());
    const Table printed = rows_table(paper);
    print_fact(output, "topology", topology_text(topologies[i]));
    if (output.text()) print_data(printed.heads_text(Table::style(output)));
    flush_output();
    const auto each = [&](const ReproducedRow& row) {
      print_row(output, printed, row);
      rows.push_back(row_json(topologies[i].name(), row));
      all_passed = all_passed && row.passed();
      keep({});
      if (row.check) rows_done.add();
    };
    const ReproducedTable table =
        reproduce(paper, topologies[i], options.check, each, options.count_up_to);
    for (const ReproducedRow& row : table.rows) {
      const Algorithm& algorithm = *row.collective.algorithm;
      if (is_of_results(algorithm.remark, topologies[i].dimensions()))
        note(fmt::format("{}: {}", row.row->label, algorithm.remark));
    }
    for (const std::string& reason : table.refused) {
      note("not applicable: " + reason);
      refused.push_back({{"topology", table.network}, {"reason", reason}});
    }
  }
  for (const std::string& text : notes) print_note(output, text);
  print_formulas(output, paper);
  print_errata(output, paper.errata);
  keep(all_passed);
  results.finish(true);
  return all_passed ? passed : failed;
}

}  // namespace

Action add_reproduce(CLI::App& program) {
  auto options = std::make_shared<ReproduceCommand>();
  CLI::App& app = *program.add_subcommand(
      "reproduce",
      "Reproduce a paper's tables: as printed, as corrected, and as counted from the programs");
  app.add_option("PAPER", options->paper,
                 "kim (complete exchange on tori), suh (complete exchange on meshes), dimakopoulos "
                 "(total exchange in products of arbitrary graphs), wang-tseng (broadcast on tori) "
                 "or grama (chapter 4 of the textbook by Grama et al.)")
      ->check(one_of({"kim", "suh", "dimakopoulos", "wang-tseng", "grama"}))
      ->required();
  add_on_option(app, options->on, false);
  app.add_option("--sizes", options->sizes,
                 "Side lengths N of the N x N networks, separated by commas")
      ->type_name("N,N,..")
      ->delimiter(',')
      ->check(at_least(1));
  app.add_option("--prove-up-to", options->check.prove_up_to,
                 "Skip the proof of delivery (a run with labelled blocks) on networks with more "
                 "than this many nodes")
      ->type_name("NODES")
      ->check(at_least(0))
      ->capture_default_str();
  options->count_up_to_option =
      app.add_option("--count-up-to", options->count_up_to,
                     "kim, suh, wang-tseng: record programs on up to this many nodes; above that, "
                     "use only formulas")
          ->type_name("NODES")
          ->check(at_least(0))
          ->capture_default_str();
  app.add_option("--svg", options->svg,
                 "wang-tseng: write the figure to this file: SVG, PDF or PNG, according to the "
                 "file extension")
      ->type_name("FILE")
      ->check(file_name());
  add_record_pieces_option(app, options->check.record_pieces);
  add_command_limit_option(app, options->time_limit);
  add_output_options(app, options->output, false, true);
  app.footer(
      "Start-ups, transmission, rearrangement and working space have one line each. A line shows "
      "the value from the paper's formula ('-' if the paper has none for this network), the value "
      "from the corrected formula, and the count from the recorded program. These four lines are "
      "one row. A row passes if the program delivers every block and respects the limits on ports "
      "and links, and if its counts equal the values of the corrected formulas.\n\n"
      "Examples:\n"
      "  wormcube reproduce kim                          N = 4, 8, 16, 32\n"
      "  wormcube reproduce kim --sizes 8,16,64          other sizes\n"
      "  wormcube reproduce suh --on mesh:6x10,mesh:5x7  any mesh, odd sides too\n"
      "  wormcube reproduce suh --json suh.json          with every erratum\n"
      "  wormcube reproduce dimakopoulos                 A1, A2, A3 and A3G against the bounds\n"
      "  wormcube reproduce wang-tseng --svg figure.svg  Figure 8: steps against n\n"
      "  wormcube reproduce wang-tseng --on torus:25x25  Lemma 1 and Theorem 2 on this torus\n"
      "  wormcube reproduce grama                        every equation and problem, with errata");
  return [options](Context& context) { return reproduce_paper(context, *options); };
}

}  // namespace wormcube::cli
