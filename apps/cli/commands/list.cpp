// wormcube list: every operation and algorithm; with a network, what it admits and what that costs.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/help.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/cost.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/output/json.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/collectives/registry.hpp"
#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/host/memory.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace wormcube::cli {

namespace {

struct ListCommand {
  std::string operation;
  std::vector<std::string> on;
  CostModel model;
  std::vector<std::string> bytes{"1K"};
  const CLI::Option* bytes_option = nullptr;
  bool markdown = false;
  OutputOptions output;
};

Json option_json(const Option& option) {
  Json json{{"name", option.name}, {"values", option.values()}};
  json["default"] = option.text(option.preset);
  json["help"] = option.help;
  return json;
}

/// {"row": "2.6", "options": {"order": "ascending"}}
Json row_json(const Algorithm& algorithm, const LedgerRow& row) {
  Json json{{"row", row.row}};
  const std::string text =
      fmt::format("{}{}{}", algorithm.name, row.options.empty() ? "" : ":", row.options);
  Json chosen = Json::object();
  for (std::string_view rest = row.options; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size()), equals = rest.find('=');
    chosen[std::string(rest.substr(0, equals))] = rest.substr(equals + 1, end - equals - 1);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  json["options"] = chosen;
  json["algorithm"] = text;
  if (!row.network.empty()) json["on"] = row.network;
  return json;
}

Json describe(const Algorithm& algorithm) {
  Json options = Json::array(), rows = Json::array(), needs = Json::array();
  for (const Option& option : algorithm.options) options.push_back(option_json(option));
  for (const LedgerRow& row : algorithm.rows) rows.push_back(row_json(algorithm, row));
  for (const Need& need : algorithm.needs) needs.push_back(need.text);
  Json json{{"operation", to_string(algorithm.operation)},
            {"algorithm", algorithm.name},
            {"ports", to_string(algorithm.ports)},
            {"contention_free", algorithm.contention_free},
            {"exactly_once", algorithm.exactly_once},
            {"chosen_by_auto", is_chosen_by_auto(algorithm)},
            {"summary", algorithm.summary},
            {"source", algorithm.source},
            {"origin", origin(algorithm).empty() ? "built in" : origin(algorithm)},
            {"options", options},
            {"needs", needs},
            {"rows", rows}};
  add_remark(json, algorithm);
  return json;
}

std::vector<const Algorithm*> chosen(const std::string& operation) {
  std::vector<const Algorithm*> algorithms;
  std::optional<Operation> wanted;
  if (!operation.empty()) wanted = parse_operation(operation);
  for (const Algorithm* algorithm : registry()) {
    if (!wanted || algorithm->operation == *wanted) algorithms.push_back(algorithm);
  }
  return algorithms;
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
    print_note(output, "whole summaries, options, sources and remarks: --wide");
    return results;
  }
  if (!options.empty()) print_note(output, "options:");
  for (const std::string& option : options) print_note(output, "  " + option);
  print_note(output, "sources and remarks:");
  for (const std::string& source : sources) print_note(output, "  " + source);
  return results;
}

/// Arguments with which every operation can be asked what a network admits.
Arguments plain_arguments(Operation operation) {
  Arguments arguments;
  if (operation->reduces) arguments.reduction = find_reduction("sum", "double");
  return arguments;
}

/// Nothing is recorded and nothing runs: all that grows with the network are the messages of a step
/// and the links they load, which the formulas of shared links count. A bound, not a measurement.
void require_memory_to_list(const Topology& topology) {
  constexpr double bytes_of_node = 128;
  require_memory(fmt::format("list on {}: counting the messages of {} nodes", topology.name(),
                             topology.nodes()),
                 bytes_of_node * topology.nodes(), "use fewer nodes");
}

void list_admitted(const std::vector<const Algorithm*>& algorithms, const Topology& topology,
                   const CostModel& model, const std::vector<Bytes>& sizes,
                   const OutputOptions& output, std::vector<Json>& results) {
  require_memory_to_list(topology);
  print_setting(output, "topology", topology_text(topology));
  if (sizes.size() == 1)
    print_setting(output, "block", bytes_text(static_cast<double>(sizes.front())));
  print_setting(output, "cost model", cost_model_text(model));
  const bool reduce = std::ranges::any_of(
      algorithms, [](const Algorithm* algorithm) { return algorithm->operation->reduces; });
  Table table({{.head = "operation", .text = true},
               {.head = "algorithm", .text = true, .cut = 20},
               {.head = "ports", .text = true},
               {.head = "block", .unit = "B", .wide = sizes.size() == 1},
               {.head = "startups"},
               {.head = "transm.", .unit = "blocks"},
               {.head = "contended", .unit = "blocks"},
               {.head = "rearr.", .unit = "blocks"},
               {.head = "comb.", .unit = "blocks", .wide = !reduce},
               {.head = "model", .unit = "us"}});
  std::vector<std::string> refused, left_out;
  for (const Algorithm* algorithm : algorithms) {
    const Collective open(*algorithm, plain_arguments(algorithm->operation));
    Json common = describe(*algorithm);
    common["topology"] = topology.name();
    const auto reason = refusal(open, topology);
    common["admitted"] = !reason;
    put(common, "refusal", reason ? Json(*reason) : Json(nullptr), "it runs here");
    if (reason) {
      refused.push_back(
          fmt::format("{} {}", to_string(algorithm->operation), named(algorithm->name, *reason)));
      results.push_back(std::move(common));
      continue;
    }
    if (!is_chosen_by_auto(*algorithm)) {
      left_out.push_back(fmt::format("{} {}", to_string(algorithm->operation), algorithm->name));
    }
    for (const Bytes block_bytes : sizes) {
      Collective collective = open;
      collective.settle(topology, model, block_bytes);
      const auto [prediction, contention] = weigh(collective, topology);
      const auto model_us = model_time_us(prediction, model, block_bytes);
      table.add({std::string(to_string(algorithm->operation)), std::string(algorithm->name),
                 std::string(to_string(algorithm->ports)), std::to_string(block_bytes),
                 cell(prediction.startups), cell(prediction.transmission_blocks),
                 contended_cell(prediction, contention), cell(prediction.rearranged_blocks),
                 cell(prediction.combined_blocks), model_cell(model_us, contention)});
      Json result = common;
      result["predicted"] = prediction_json(prediction);
      put(result, "model_contention", contention_json(prediction, contention),
          "the source gives no formula");
      result["block_bytes"] = block_bytes;
      result["cost_model"] = cost_model_json(model);
      put(result, "model_time_us", json_value(model_us), "the source gives no formula");
      results.push_back(std::move(result));
    }
  }
  print_table(output, table);
  if (!left_out.empty())
    print_note(output, fmt::format("auto leaves out: {}", fmt::join(left_out, ", ")));
  for (const std::string& reason : refused) print_note(output, "not applicable: " + reason);
}

/// A cell of a markdown table.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|' || c == '*') result += '\\';
    result += c;
  }
  return result;
}

/// One table for each operation: docs/algorithms.md.
void print_markdown(const std::vector<const Algorithm*>& algorithms) {
  std::optional<Operation> last;
  for (const Algorithm* algorithm : algorithms) {
    if (!last || *last != algorithm->operation) {
      last = algorithm->operation;
      fmt::print("\n## {}\n\n{}\n\n", (*last)->name, escaped((*last)->summary));
      fmt::print("| algorithm | what | needs | ports | free of contention | options | source |\n");
      fmt::print("|---|---|---|---|---|---|---|\n");
    }
    std::string needs, options;
    for (const Need& need : algorithm->needs) {
      needs += fmt::format("{}{}", needs.empty() ? "" : "; ", escaped(need.text));
    }
    if (algorithm->needs_commutative) needs += needs.empty() ? "" : "; ";
    if (algorithm->needs_commutative) needs += "a commutative operator";
    for (const Option& option : algorithm->options) {
      options += fmt::format("{}`{}` = {} [{}]", options.empty() ? "" : "<br>", option.name,
                             escaped(option.values()), option.text(option.preset));
    }
    fmt::print("| `{}` | {} | {} | {} | {} | {} | {}{} |\n", algorithm->name,
               escaped(algorithm->summary), needs, to_string(algorithm->ports),
               algorithm->contention_free ? "yes" : "no", options, escaped(algorithm->source),
               algorithm->remark.empty() ? "" : fmt::format(" ({})", escaped(algorithm->remark)));
  }
}

ExitCode list(const ListCommand& options) {
  options.output.validate();
  const auto algorithms = chosen(options.operation);
  if (options.markdown) {
    print_markdown(algorithms);
    return passed;
  }
  std::vector<Json> results;
  if (options.on.empty()) {
    if (options.bytes_option->count() > 0) {
      throw UsageError("--bytes has no effect without a network: name one with --on");
    }
    results = list_everything(algorithms, options.output);
  } else {
    const std::vector<Bytes> sizes = parse_sizes(options.bytes);
    for (const Topology& topology : parse_topologies(options.on)) {
      list_admitted(algorithms, topology, options.model, sizes, options.output, results);
    }
  }
  write_results(options.output, results, false);
  return passed;
}

}  // namespace

Action add_list(CLI::App& program) {
  auto options = std::make_shared<ListCommand>();
  CLI::App& app = *program.add_subcommand(
      "list", "List operations and algorithms; with --on: what a network admits");
  app.add_option("OPERATION", options->operation, operations_text() + "; without it: all of them");
  add_on_option(app, options->on, false);
  options->bytes_option = add_sizes_option(app, options->bytes, "Block size, for the model's time");
  app.add_flag("--markdown", options->markdown,
               "Tables of all algorithms as markdown: docs/algorithms.md")
      ->group("Output");
  add_cost_options(app, options->model);
  add_output_options(app, options->output);
  app.footer(
      "Columns with --on, by the formulas of each algorithm's source: startups (steps), "
      "transmission (sum over the steps of the largest message), contended (the same, where "
      "messages that share a link follow each other), rearrangement and combining (blocks, along "
      "the critical path), and the model's time for blocks of m bytes: ts x startups + tw x m x "
      "contended + tr x m x rearranged + tc x m x combined. '-' where the source gives no formula; "
      "'?' where contention is not known, and the time is '>=' what it says: no formula knows it, "
      "and the network is too large to count it in a dry run. Below: what `auto` leaves out (baselines, "
      "what takes long to ask, routes in an order of their own), and what the network does not "
      "admit, with the reason.\n\n"
      "Examples:\n"
      "  wormcube list\n"
      "  wormcube list alltoall --on torus:8x8 --bytes 4K\n"
      "  wormcube list --on hypercube:6 --json -");
  return [options] { return list(*options); };
}

}  // namespace wormcube::cli
