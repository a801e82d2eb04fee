// wormcube reproduce grama: equations, algorithms and problems of the chapter.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/reproduce_chapter.hpp"

#include "wormcube/apps/cli/commands/reproduce_json.hpp"
#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/output/progress.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/apps/reproduce/grama.hpp"

#include <algorithm>
#include <array>
#include <list>

#include <fmt/core.h>

namespace wormcube::cli {

using namespace apps;

namespace {

/// "Eq. 4.2", "3, 12": as the errata are numbered.
std::vector<std::string> erratum_names(std::string_view numbers) {
  std::vector<std::string> names;
  while (!numbers.empty()) {
    const std::size_t comma = numbers.find(',');
    names.push_back(fmt::format("grama-{}", numbers.substr(0, comma)));
    numbers.remove_prefix(comma == std::string_view::npos ? numbers.size() : comma + 2);
  }
  return names;
}

Json chapter_row_json(const ChapterRow& row, const ChapterResult& result) {
  Json figures = Json::array();
  for (std::size_t i = 0; i < row.figures.size(); ++i) {
    const ChapterFigure& figure = row.figures[i];
    figures.push_back({{"figure", to_string(figure.unit)},
                       {"formula", figure.formula},
                       {"printed", figure.printed},
                       {"corrected", figure.corrected},
                       {"counted", result.counted[i]},
                       {"as_printed", is_same_figure(figure.printed, result.counted[i])}});
  }
  Json json{{"place", row.place},
            {"topology", row.network},
            {"figures", figures},
            {"errata", erratum_names(row.errata)},
            {"passed", result.passed()}};
  const bool has_algorithm = !row.algorithm.empty();
  put(json, "operation", has_algorithm ? Json(row.operation->name) : Json(nullptr),
      "the figures are the network's");
  put(json, "algorithm", has_algorithm ? Json(row.algorithm) : Json(nullptr),
      "the figures are the network's");
  return json;
}

/// A line for each figure; only the first has the row's place and algorithm.
/// The algorithm, each of its options, and the network, a line each: the table stays narrow.
std::vector<std::string> call_lines(const ChapterRow& row) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < row.algorithm.size();) {
    const std::size_t end = std::min(row.algorithm.find(':', at + 1), row.algorithm.size());
    lines.emplace_back(row.algorithm.substr(at, end - at));
    at = end;
  }
  lines.push_back(lines.empty() ? std::string(row.network) : fmt::format("on {}", row.network));
  return lines;
}

void add_chapter_row(Table& table, const ChapterRow& row, const ChapterResult& result) {
  const std::vector<std::string> call = call_lines(row);
  // Which erratum explains a printed value stands below the place, where no column is dropped.
  const std::array<std::string, 2> place{
      std::string(row.place), row.errata.empty() ? "" : fmt::format("  erratum {}", row.errata)};
  const std::size_t lines =
      std::max({row.figures.size(), call.size(), row.errata.empty() ? 1 : place.size()});
  for (std::size_t i = 0; i < lines; ++i) {
    const auto once = [&](std::string_view text) { return std::string(i == 0 ? text : ""); };
    std::vector<std::string> cells{i < place.size() ? place[i] : "",
                                   once(row.algorithm.empty() ? "-" : row.operation->name),
                                   i < call.size() ? call[i] : ""};
    if (i < row.figures.size()) {
      const ChapterFigure& figure = row.figures[i];
      const std::optional<bool> same = is_same_figure(figure.printed, result.counted[i]);
      cells.insert(cells.end(), {std::string(to_string(figure.unit)), std::string(figure.formula),
                                 cell(figure.printed), cell(figure.corrected),
                                 cell(result.counted[i]), cell(same)});
    } else {
      cells.resize(cells.size() + 6);
    }
    cells.push_back(once(result.passed() ? "yes" : "NO"));
    table.add(std::move(cells));
  }
}

}  // namespace

ExitCode reproduce_chapter(Context& context, const CheckOptions& check,
                           const OutputOptions& output) {
  std::list<Topology> topologies;
  std::vector<CheckedRow> checked;
  for (const ChapterRow& row : chapter_rows()) {
    if (row.algorithm.empty()) continue;
    checked.push_back({collective_of(row), &topologies.emplace_back(Topology::parse(row.network))});
  }
  require_to_check("reproduce grama", checked, check);
  Progress progress(context, output, "reproduce grama");
  print_setting(output, "paper", grama_citation);
  print_setting(output, "proof", fmt::format("up to {} nodes", check.prove_up_to));
  Table table({{.head = "place", .text = true},
               {.head = "operation", .text = true, .drop = 5},
               {.head = "call", .text = true},
               {.head = "figure", .text = true},
               {.head = "formula", .text = true, .drop = 6},
               {.head = "printed"},
               {.head = "corrected", .drop = 2},
               {.head = "counted"},
               {.head = "as printed", .drop = 4},
               {.head = "passed"}});
  Json rows = Json::array();
  Results results(context, output, {});
  const auto keep = [&](std::optional<bool> passed) {
    results.keep_whole(
        reproduced_json("grama", grama_citation, rows, Json::array(), grama_errata(), passed));
  };
  keep({});
  std::vector<std::string> failures;
  long done = 0;
  for (const ChapterRow& row : chapter_rows()) {
    progress.doing(fmt::format("{}: {} on {}", row.place, row.algorithm, row.network));
    const ChapterResult result = reproduce_row(row, check);
    add_chapter_row(table, row, result);
    rows.push_back(chapter_row_json(row, result));
    failures.insert(failures.end(), result.failures.begin(), result.failures.end());
    keep({});
    progress(++done, static_cast<long>(chapter_rows().size()));
  }
  print_table(output, table);
  for (const std::string& failure : failures) print_note(output, "FAILED: " + failure);
  print_errata(output, grama_errata());
  keep(failures.empty());
  results.finish(true);
  return failures.empty() ? passed : failed;
}

}  // namespace wormcube::cli
