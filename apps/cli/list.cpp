// wormcube list: every operation and algorithm; with a network, what it admits and what that costs.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/help.hpp"
#include "wormcube/apps/cli/options.hpp"
#include "wormcube/apps/cli/output.hpp"
#include "wormcube/apps/cli/program.hpp"
#include "wormcube/collectives/registry.hpp"
#include "wormcube/runtime/error.hpp"

#include <memory>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

struct Options {
  std::string operation;
  std::vector<std::string> on;
  ParameterOptions parameters;
  std::string bytes = "1K";
  OutputOptions output;
};

Json describe(const Algorithm& algorithm) {
  return {{"operation", to_string(algorithm.operation)},
          {"algorithm", algorithm.name},
          {"ports", to_string(algorithm.ports)},
          {"contention_free", algorithm.contention_free},
          {"summary", algorithm.summary},
          {"source", algorithm.source},
          {"remark", algorithm.remark.empty() ? Json(nullptr) : Json(algorithm.remark)}};
}

std::vector<const Algorithm*> chosen(const std::string& operation) {
  std::vector<const Algorithm*> algorithms;
  const auto wanted = operation.empty() ? std::optional<Operation>() : parse_operation(operation);
  for (const Algorithm& algorithm : registry()) {
    if (!wanted || algorithm.operation == *wanted) algorithms.push_back(&algorithm);
  }
  return algorithms;
}

std::vector<Json> list_everything(const std::vector<const Algorithm*>& algorithms,
                                  const OutputOptions& output) {
  Table table({{"operation", "", true},
               {"algorithm", "", true},
               {"ports", "", true},
               {"summary", "", true}});
  std::vector<Json> results;
  std::vector<std::string> sources;
  for (const Algorithm* algorithm : algorithms) {
    const std::string operation(to_string(algorithm->operation));
    table.add({operation, std::string(algorithm->name), std::string(to_string(algorithm->ports)),
               std::string(algorithm->summary)});
    sources.push_back(fmt::format("{} {}: {}", operation, algorithm->name, algorithm->source));
    if (!algorithm->remark.empty()) sources.back() += fmt::format(" [{}]", algorithm->remark);
    results.push_back(describe(*algorithm));
  }
  print_table(output, table);
  print_note(output, "sources and remarks:");
  for (const std::string& source : sources) print_note(output, "  " + source);
  return results;
}

void list_admitted(const std::vector<const Algorithm*>& algorithms, const Topology& topology,
                   const Parameters& parameters, const OutputOptions& output,
                   std::vector<Json>& results) {
  print_setting(output, "topology", topology_text(topology));
  print_setting(output, "block", bytes_text(static_cast<double>(parameters.block_bytes)));
  print_setting(output, "cost model", cost_model_text(parameters));
  print_setting(output, "variants", parameters_text(parameters));
  Table table({{"operation", "", true},
               {"algorithm", "", true},
               {"ports", "", true},
               {"startups"},
               {"transmission", "blocks"},
               {"rearranged", "blocks"},
               {"model time", "us"},
               {"remark", "", true}});
  std::vector<std::string> refused;
  for (const Algorithm* algorithm : algorithms) {
    Json result = describe(*algorithm);
    result["topology"] = topology.name();
    const auto reason = refusal(*algorithm, topology, parameters);
    result["admitted"] = !reason;
    result["refusal"] = reason ? Json(*reason) : Json(nullptr);
    if (reason) {
      refused.push_back(
          fmt::format("{} {}", to_string(algorithm->operation), named(algorithm->name, *reason)));
    } else {
      const Prediction prediction = algorithm->predict(topology, parameters);
      const auto model_us = model_time_us(prediction, parameters);
      table.add({std::string(to_string(algorithm->operation)), std::string(algorithm->name),
                 std::string(to_string(algorithm->ports)), cell(prediction.startups),
                 cell(prediction.transmission_blocks), cell(prediction.rearranged_blocks),
                 cell_rate(model_us), std::string(algorithm->remark)});
      result["predicted"] = prediction_json(prediction);
      result["block_bytes"] = parameters.block_bytes;
      result["model_time_us"] = json_value(model_us);
    }
    results.push_back(std::move(result));
  }
  print_table(output, table);
  for (const std::string& reason : refused) print_note(output, "not here: " + reason);
}

ExitCode list(const Options& options) {
  options.output.validate();
  const auto algorithms = chosen(options.operation);
  std::vector<Json> results;
  if (options.on.empty()) {
    results = list_everything(algorithms, options.output);
  } else {
    Parameters parameters = options.parameters.resolve();
    parameters.block_bytes = parse_bytes(options.bytes);
    for (const Topology& topology : parse_topologies(options.on)) {
      list_admitted(algorithms, topology, parameters, options.output, results);
    }
  }
  write_results(options.output, results, false);
  return passed;
}

}  // namespace

Action add_list(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App& app = *program.add_subcommand(
      "list", "List operations and algorithms; with --on: what a network admits");
  app.add_option("OPERATION", options->operation, operations_text() + "; without it: all of them");
  add_on_option(app, options->on, false);
  app.add_option("--bytes", options->bytes, "Block size, for the model's time")
      ->type_name("N[K|M|G]")
      ->capture_default_str()
      ->group("What");
  add_parameter_options(app, options->parameters);
  add_output_options(app, options->output);
  app.footer(
      "Columns with --on: startups (steps), transmission and rearranged (blocks, along the "
      "critical path) by the formulas of\n"
      "each algorithm's source, and the model's time: ts x startups + tw x m x transmission + tr x "
      "m x rearranged, for\n"
      "blocks of m bytes. '-' where the source gives no formula. Algorithms that the network does "
      "not admit follow with the\n"
      "reason.\n\n"
      "Examples:\n"
      "  wormcube list\n"
      "  wormcube list alltoall --on torus:8x8 --bytes 4K\n"
      "  wormcube list --on hypercube:6 --json -");
  return [options] { return list(*options); };
}

}  // namespace wormcube::cli
