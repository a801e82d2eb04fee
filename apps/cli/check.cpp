// wormcube check: algorithms recorded dry, counted, compared with their formulas, and proved.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/check.hpp"

#include "wormcube/apps/cli/help.hpp"
#include "wormcube/apps/cli/options.hpp"
#include "wormcube/apps/cli/output.hpp"
#include "wormcube/apps/cli/program.hpp"
#include "wormcube/runtime/error.hpp"

#include <memory>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

struct Options {
  std::string operation;
  std::vector<std::string> on;
  AlgorithmOptions algorithm;
  ParameterOptions parameters;
  std::string bytes = "1K";
  CheckOptions check;
  OutputOptions output;
};

Json result_json(const CheckResult& result, const CheckOptions& options,
                 const Parameters& parameters) {
  const Algorithm& algorithm = *result.algorithm;
  const ScheduleReport& report = result.report;
  Json json{{"operation", to_string(algorithm.operation)},
            {"algorithm", algorithm.name},
            {"topology", result.topology},
            {"nodes", result.nodes},
            {"ports", ports_text(result.all_port)},
            {"startups", report.startups},
            {"transmission_blocks", json_value(result.transmission_blocks)},
            {"rearranged_blocks", json_value(result.rearranged_blocks)},
            {"messages", report.messages},
            {"total_blocks", json_value(result.total_blocks)},
            {"block_hops", json_value(result.block_hops)},
            {"steps", report.steps},
            {"sum_max_hops", report.sum_max_hops},
            {"max_hops", report.max_hops},
            {"link_load_max", report.link_load_max},
            {"contention_free_claimed", algorithm.contention_free},
            {"port_violations", report.port_violations},
            {"matched", report.matched()},
            {"delivered", json_value(result.delivered)},
            {"exactly_once", json_value(result.exactly_once)}};
  if (!result.delivered) json["delivered_reason"] = result.proof;
  if (!result.exactly_once) json["exactly_once_reason"] = result.proof;
  json["proof"] = result.proof;
  json["peak_blocks"] = json_value(result.peak_blocks);
  json["working_blocks"] = json_value(result.working_blocks);
  json["deadlock_free"] = report.deadlock_free;
  json["virtual_channels"] = options.virtual_channels;
  json["predicted"] = prediction_json(result.predicted);
  json["lower_bound"] = {
      {"startups", json_value(result.lower_bound.startups)},
      {"transmission_blocks", json_value(result.lower_bound.transmission_blocks)}};
  json["parameters"] = {{"root", parameters.root},
                        {"divisions", parameters.divisions},
                        {"order", to_string(parameters.order)},
                        {"ring", to_string(parameters.ring)}};
  json["source"] = algorithm.source;
  json["remark"] = algorithm.remark.empty() ? Json(nullptr) : Json(algorithm.remark);
  json["passed"] = result.passed();
  json["failures"] = result.failures;
  return json;
}

Table results_table() {
  return Table({{"algorithm", "", true},
                {"ports", "", true},
                {"startups"},
                {"formula"},
                {"bound"},
                {"transmission", "blocks"},
                {"formula", "blocks"},
                {"bound", "blocks"},
                {"rearranged", "blocks"},
                {"formula", "blocks"},
                {"messages"},
                {"longest", "links"},
                {"link load", "messages"},
                {"peak", "blocks"},
                {"delivered"},
                {"once"},
                {"deadlock-free"},
                {"passed"}});
}

void add_row(Table& table, const CheckResult& result) {
  const ScheduleReport& report = result.report;
  const auto number = [](auto value) { return cell(static_cast<double>(value)); };
  table.add({std::string(result.algorithm->name), std::string(ports_text(result.all_port)),
             number(report.startups), cell(result.predicted.startups),
             cell(result.lower_bound.startups), cell(result.transmission_blocks),
             cell(result.predicted.transmission_blocks),
             cell(result.lower_bound.transmission_blocks), cell(result.rearranged_blocks),
             cell(result.predicted.rearranged_blocks), number(report.messages),
             number(report.max_hops), number(report.link_load_max), cell(result.peak_blocks),
             cell(result.delivered), cell(result.exactly_once),
             cell(std::optional<bool>(report.deadlock_free)), result.passed() ? "yes" : "NO"});
}

/// One network: settings, table, what failed and why, what does not run here.
bool check_on(const Topology& topology, const Selection& selection, const Options& options,
              const Parameters& parameters, std::vector<Json>& results) {
  const OutputOptions& output = options.output;
  print_setting(output, "topology", topology_text(topology));
  Table table = results_table();
  std::vector<std::string> notes;
  bool passed = true;
  Progress progress(output, fmt::format("check on {}", topology.name()));
  long done = 0;
  for (const Algorithm* algorithm : selection.algorithms) {
    progress(done++, static_cast<long>(selection.algorithms.size()));
    CheckOptions check = options.check;
    check.all_port = all_port(options.algorithm, *algorithm);
    const CheckResult result = check_collective(*algorithm, topology, parameters, check);
    passed = passed && result.passed();
    add_row(table, result);
    results.push_back(result_json(result, check, parameters));
    if (!algorithm->remark.empty())
      notes.push_back(fmt::format("{}: {}", algorithm->name, algorithm->remark));
    if (!result.delivered) notes.push_back(fmt::format("{}: {}", algorithm->name, result.proof));
    for (const std::string& failure : result.failures)
      notes.push_back(fmt::format("{}: FAILED: {}", algorithm->name, failure));
  }
  progress.clear();
  print_table(output, table);
  for (const std::string& note : notes) print_note(output, note);
  for (const std::string& reason : selection.refused) print_note(output, "not here: " + reason);
  return passed;
}

ExitCode check(const Options& options) {
  options.output.validate();
  const Operation operation = parse_operation(options.operation);
  const std::vector<Topology> topologies = parse_topologies(options.on);
  Parameters parameters = options.parameters.resolve();
  parameters.block_bytes = parse_bytes(options.bytes);
  std::vector<Selection> selections;
  selections.reserve(topologies.size());
  for (const Topology& topology : topologies)
    selections.push_back(select(options.algorithm, operation, topology, parameters));

  const OutputOptions& output = options.output;
  print_setting(
      output, "check",
      fmt::format("{}, algorithm {}", to_string(operation), names_text(options.algorithm)));
  print_setting(output, "variants", parameters_text(parameters));
  print_setting(output, "virtual channels",
                fmt::format("{} per ring link", options.check.virtual_channels));
  print_setting(output, "proof", fmt::format("up to {} nodes", options.check.prove_up_to));
  if (options.algorithm.chooses()) {
    print_setting(
        output, "auto",
        fmt::format("blocks of {}, {}", bytes_text(static_cast<double>(parameters.block_bytes)),
                    cost_model_text(parameters)));
  }
  bool all_passed = true;
  std::vector<Json> results;
  for (std::size_t i = 0; i < topologies.size(); ++i) {
    all_passed = check_on(topologies[i], selections[i], options, parameters, results) && all_passed;
  }
  write_results(output, results, options.algorithm.single() && topologies.size() == 1);
  return all_passed ? passed : failed;
}

}  // namespace

Action add_check(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App& app = *program.add_subcommand(
      "check", "Count and prove algorithms without moving data: no threads, no network");
  app.add_option("OPERATION", options->operation, operations_text())->required();
  add_on_option(app, options->on, true);
  add_algorithm_options(app, options->algorithm);
  app.add_option("--bytes", options->bytes,
                 "Block size, for choosing `auto`; counts are in blocks and do not depend on it")
      ->type_name("N[K|M|G]")
      ->capture_default_str()
      ->group("Cost model (chooses `auto`, and gives the model's times)");
  app.add_option("--prove-up-to", options->check.prove_up_to,
                 "Prove delivery by a run with marked blocks on up to so many nodes (a broadcast's "
                 "schedule proves it on more)")
      ->type_name("NODES")
      ->check(at_least(0))
      ->capture_default_str()
      ->group("What");
  app.add_option("--seed", options->check.seed, "For the block sizes of alltoallv")
      ->type_name("N")
      ->capture_default_str()
      ->group("What");
  add_virtual_channels_option(app, options->check.virtual_channels);
  add_parameter_options(app, options->parameters);
  add_output_options(app, options->output);
  app.footer(
      "The program of every node is recorded without data; the recording is counted and judged, "
      "and a second run with\n"
      "blocks that remember where they come from proves delivery. A block is what one pair of "
      "nodes exchanges; of a\n"
      "broadcast, the whole message. Columns:\n"
      "  startups      steps in which anybody sends\n"
      "  transmission  sum over the steps of the largest message\n"
      "  rearranged    blocks permuted in local memory, along the critical path\n"
      "  formula       what the algorithm's source says of the column before; '-' where it says "
      "nothing\n"
      "  bound         what no algorithm can beat on this network\n"
      "  longest       links of the longest route\n"
      "  link load     most messages on one directed link in one step; 1 is free of contention\n"
      "  peak          most blocks that one node holds: its result, or more while the algorithm "
      "runs\n"
      "  delivered     every block arrives where it belongs; `?`: not proved (the reason follows)\n"
      "  once          and no other in its place\n"
      "  deadlock-free the routes used cannot wait in a circle\n"
      "  passed        all of this holds, and the counts are those of the formulas\n\n"
      "JSON: one object if one algorithm was asked for (by name or `auto`) on one network; "
      "otherwise an array of objects.\n"
      "Exit code 1 if anything failed.\n\n"
      "Examples:\n"
      "  wormcube check alltoall --on torus:8x8 --algorithm all\n"
      "  wormcube check alltoall --on torus:8x8 --algorithm suh-torus --json -\n"
      "  wormcube check broadcast --on mesh:6x5 --root 7");
  return [options] { return check(*options); };
}

}  // namespace wormcube::cli
