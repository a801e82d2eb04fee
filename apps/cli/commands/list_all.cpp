// All operations and algorithms, without a network.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/list_all.hpp"

#include "wormcube/apps/cli/core/print.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/collectives/harness/weigh.hpp"

#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace wormcube::cli {

namespace {

Json option_json(const Option& option) {
  Json json{{"name", option.name}, {"values", option.values()}};
  json["default"] = option.text(option.preset);
  json["help"] = option.help;
  return json;
}

/// A cell of a markdown table.
std::string markdown_cell(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|' || c == '*') result += '\\';
    if (c == '<' || c == '>') {
      result += c == '<' ? "&lt;" : "&gt;";
    } else {
      result += c == '\n' ? ' ' : c;
    }
  }
  return result;
}

}  // namespace

Json describe(const Algorithm& algorithm) {
  Json options = Json::array(), needs = Json::array();
  for (const Option& option : algorithm.options) options.push_back(option_json(option));
  for (const Need& need : algorithm.needs) needs.push_back(need.text);
  Json json{{"operation", to_string(algorithm.operation)},
            {"operation_summary", algorithm.operation->summary},
            {"algorithm", algorithm.name},
            {"ports", to_string(algorithm.ports)},
            {"contention_free", algorithm.contention_free},
            {"exactly_once", algorithm.exactly_once},
            {"considered_by_auto", is_chosen_by_auto(algorithm)},
            {"summary", algorithm.summary},
            {"source", algorithm.source},
            {"origin", origin(algorithm).empty() ? "built in" : origin(algorithm)},
            {"options", options},
            {"needs", needs}};
  add_remark(json, algorithm);
  return json;
}

std::vector<Json> list_everything(const std::vector<const Algorithm*>& algorithms,
                                  const OutputOptions& output) {
  Table table({{.head = "operation", .text = true},
               {.head = "algorithm", .text = true},
               {.head = "ports", .text = true, .wide = true},
               {.head = "summary", .text = true, .cut = 20}});
  std::vector<Json> results;
  std::vector<std::string> sources, options, foreign;
  for (const Algorithm* algorithm : algorithms) {
    const std::string operation(to_string(algorithm->operation));
    table.add({operation, std::string(algorithm->name), std::string(to_string(algorithm->ports)),
               std::string(algorithm->summary)});
    sources.push_back(fmt::format("{} {}: {}", operation, algorithm->name, algorithm->source));
    if (!algorithm->remark.empty()) sources.back() += fmt::format(" [{}]", algorithm->remark);
    if (const std::string from(origin(*algorithm)); !from.empty()) {
      sources.back() += fmt::format(" [from {}]", from);
      foreign.push_back(fmt::format("{} {} [from {}]", operation, algorithm->name, from));
    }
    for (const Option& option : algorithm->options) {
      options.push_back(fmt::format("{} {}:{}={} [{}]  {}", operation, algorithm->name, option.name,
                                    option.values(), option.text(option.preset), option.help));
    }
    results.push_back(describe(*algorithm));
  }
  print_table(output, table);
  if (!output.wide) {
    for (const std::string& algorithm : foreign) print_note(output, algorithm);
    print_note(output, "--wide shows full summaries, options, sources and remarks");
    return results;
  }
  if (!options.empty()) print_note(output, "options:");
  for (const std::string& option : options) print_note(output, "  " + option);
  print_note(output, "sources and remarks:");
  for (const std::string& source : sources) print_note(output, "  " + source);
  return results;
}

void print_markdown(const std::vector<const Algorithm*>& algorithms) {
  std::optional<Operation> last;
  for (const Algorithm* algorithm : algorithms) {
    if (!last || *last != algorithm->operation) {
      last = algorithm->operation;
      std::string result = markdown_cell((*last)->summary);
      if (!result.empty()) {
        result[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(result[0])));
      }
      print(fmt::format("\n## {}\n\n{}.\n\n", (*last)->name, result));
      print(
          "| algorithm | description | needs | ports | free of contention | options | source |\n");
      print("|---|---|---|---|---|---|---|\n");
    }
    std::string needs, options;
    for (const Need& need : algorithm->needs) {
      std::string_view text = need.text;
      if (text.starts_with("needs ")) text.remove_prefix(6);  // the head of the column
      needs += fmt::format("{}{}", needs.empty() ? "" : "; ", markdown_cell(text));
    }
    if (algorithm->needs_commutative) needs += needs.empty() ? "" : "; ";
    if (algorithm->needs_commutative) needs += "a commutative operator";
    for (const Option& option : algorithm->options) {
      options += fmt::format("{}`{}` = {} [{}]", options.empty() ? "" : "<br>", option.name,
                             markdown_cell(option.values()), option.text(option.preset));
    }
    print(fmt::format(
        "| `{}` | {} | {} | {} | {} | {} | {}{} |\n", algorithm->name,
        markdown_cell(algorithm->summary), needs, to_string(algorithm->ports),
        algorithm->contention_free ? "yes" : "no", options, markdown_cell(algorithm->source),
        algorithm->remark.empty() ? "" : fmt::format(" ({})", markdown_cell(algorithm->remark))));
  }
}

}  // namespace wormcube::cli
