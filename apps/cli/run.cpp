// wormcube run: algorithms on the machine, with real data, timed and verified.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/harness/run.hpp"

#include "wormcube/apps/cli/help.hpp"
#include "wormcube/apps/cli/options.hpp"
#include "wormcube/apps/cli/output.hpp"
#include "wormcube/apps/cli/program.hpp"
#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/machine/machine.hpp"
#include "wormcube/runtime/routing/routing.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <thread>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

struct Options {
  std::string operation;
  std::vector<std::string> on;
  AlgorithmOptions algorithm;
  ParameterOptions parameters;
  std::vector<std::string> bytes{"1K"};
  CollectiveRun run;
  std::string verify = "on";
  MachineFlags machine;
  OutputOptions output;
};

/// All runs on one network, in the order of the table.
struct Plan {
  Topology topology;
  std::vector<Bytes> sizes;
  std::vector<Selection> selections;  // one for each size: `auto` depends on it
};

/// Before anything is printed: the machine itself would refuse later.
void require_acyclic(const Topology& topology, int virtual_channels) {
  if (const auto cycle = dependency_cycle(Routing(topology, virtual_channels))) {
    throw UsageError(
        fmt::format("{} with {} virtual channel per ring link can deadlock: a cycle of channels "
                    "that wait for each other, {}; "
                    "use --virtual-channels 2",
                    topology.name(), virtual_channels, *cycle));
  }
}

std::vector<Plan> make_plans(const Options& options, Operation operation,
                             const Parameters& parameters) {
  std::vector<Bytes> sizes;
  for (const std::string& text : options.bytes) sizes.push_back(parse_bytes(text));
  if (operation == Operation::barrier) sizes = {0};  // it moves no data
  std::vector<Plan> plans;
  for (Topology& topology : parse_topologies(options.on)) {
    require_acyclic(topology, options.machine.virtual_channels);
    std::vector<Selection> selections;
    for (const Bytes bytes : sizes) {
      Parameters sized = parameters;
      sized.block_bytes = bytes;
      CollectiveRun run = options.run;
      run.block_bytes = bytes;
      selections.push_back(select(options.algorithm, operation, topology, sized));
      for (const Algorithm* algorithm : selections.back().algorithms) {
        require_memory_to_run(*algorithm, topology, sized, run);
      }
    }
    plans.push_back({std::move(topology), sizes, std::move(selections)});
  }
  return plans;
}

Json result_json(const RunResult& result, const Options& options, const Parameters& parameters,
                 const MachineOptions& machine) {
  const Algorithm& algorithm = *result.algorithm;
  Json json{
      {"operation", to_string(algorithm.operation)},
      {"algorithm", algorithm.name},
      {"topology", result.topology},
      {"nodes", result.nodes},
      {"ports", ports_text(machine.all_port)},
      {"block_bytes", result.block_bytes},
      {"iterations", options.run.iterations},
      {"warmup", options.run.warmup},
      {"times_us", result.times_us},
      {"time_min_us", result.min_us},
      {"time_median_us", result.median_us},
      {"time_max_us", result.max_us},
      {"model_time_us", json_value(result.model_us)},
      {"data_bytes", json_value(result.data_bytes)},
      {"algbw_gb_per_s", result.algbw_gb_per_s ? Json(*result.algbw_gb_per_s) : Json(nullptr)},
      {"busbw_gb_per_s", result.busbw_gb_per_s ? Json(*result.busbw_gb_per_s) : Json(nullptr)}};
  if (!result.model_us) json["model_time_us_reason"] = "the source gives no formula";
  if (!result.data_bytes) json["algbw_gb_per_s_reason"] = "a barrier moves no data";
  json["wrong"] = result.wrong ? Json(*result.wrong) : Json(nullptr);
  if (!result.wrong) json["wrong_reason"] = "--verify off";
  if (!result.first_wrong.empty()) json["first_wrong"] = result.first_wrong;
  json["messages"] = result.messages;
  json["link_bytes_max"] = json_value(result.link_bytes_max);
  json["blocked"] = result.blocked;
  json["parked"] = result.parked;
  json["peak_bytes"] = result.peak_bytes;
  json["deadlock_free"] = result.deadlock_free;
  json["predicted"] = prediction_json(result.predicted);
  json["nodes_as"] = machine.nodes_as == NodesAs::fibers ? "fibers" : "threads";
  json["channel_capacity"] = machine.channel_capacity;
  json["eager_limit"] = machine.eager_limit;
  json["virtual_channels"] = machine.virtual_channels;
  json["lock_step"] = machine.lock_step;
  json["seed"] = options.run.seed;
  json["parameters"] = {{"root", parameters.root},
                        {"divisions", parameters.divisions},
                        {"order", to_string(parameters.order)},
                        {"ring", to_string(parameters.ring)}};
  json["source"] = algorithm.source;
  json["remark"] = algorithm.remark.empty() ? Json(nullptr) : Json(algorithm.remark);
  json["passed"] = result.wrong ? Json(result.passed()) : Json(nullptr);
  return json;
}

Table results_table() {
  return Table({{"algorithm", "", true},
                {"ports", "", true},
                {"block", "B"},
                {"median", "us"},
                {"min", "us"},
                {"max", "us"},
                {"algbw", "GB/s"},
                {"busbw", "GB/s"},
                {"model", "us"},
                {"busiest link", "B"},
                {"blocked"},
                {"parked"},
                {"peak", "B"},
                {"wrong", "B"}});
}

void add_row(Table& table, const RunResult& result, bool all_port) {
  const auto number = [](auto value) { return cell(static_cast<double>(value)); };
  table.add({std::string(result.algorithm->name), std::string(ports_text(all_port)),
             number(result.block_bytes), cell_rate(result.median_us), cell_rate(result.min_us),
             cell_rate(result.max_us), cell_rate(result.algbw_gb_per_s),
             cell_rate(result.busbw_gb_per_s), cell_rate(result.model_us),
             cell_rate(result.link_bytes_max), number(result.blocked), number(result.parked),
             number(result.peak_bytes), result.wrong ? std::to_string(*result.wrong) : "?"});
}

/// Machines of one network: one for each port model and kind of routes, built when first needed.
class Machines {
 public:
  Machines(const Topology& topology, const MachineFlags& flags)
      : topology_(topology), flags_(flags) {}
  Machine& with(bool all_port, bool any_order) {
    auto& machine = machines_[{all_port, any_order}];
    if (!machine) {
      MachineOptions options = flags_.resolve(all_port);
      options.any_order = any_order;  // run_collective checks the routes
      machine = std::make_unique<Machine>(topology_, options);
    }
    return *machine;
  }

 private:
  const Topology& topology_;
  const MachineFlags& flags_;
  std::map<std::pair<bool, bool>, std::unique_ptr<Machine>> machines_;
};

bool run_on(const Plan& plan, const Options& options, const Parameters& parameters,
            std::vector<Json>& results) {
  const OutputOptions& output = options.output;
  print_setting(output, "topology", topology_text(plan.topology));
  Table table = results_table();
  std::vector<std::string> notes;
  Machines machines(plan.topology, options.machine);
  bool passed = true;
  for (std::size_t i = 0; i < plan.sizes.size(); ++i) {
    for (const Algorithm* algorithm : plan.selections[i].algorithms) {
      Progress progress(output, fmt::format("{} on {}", algorithm->name, plan.topology.name()));
      CollectiveRun run = options.run;
      run.block_bytes = plan.sizes[i];
      run.verify = options.verify == "on";
      run.progress = [&progress](int done, int total) { progress(done, total); };
      Parameters sized = parameters;
      sized.block_bytes = plan.sizes[i];
      Machine& machine =
          machines.with(all_port(options.algorithm, *algorithm), algorithm->any_order);
      const RunResult result = run_collective(machine, *algorithm, sized, run);
      passed = passed && result.passed();
      add_row(table, result, machine.options().all_port);
      results.push_back(result_json(result, options, sized, machine.options()));
      if (!algorithm->remark.empty() && i == 0)
        notes.push_back(fmt::format("{}: {}", algorithm->name, algorithm->remark));
      if (!result.passed())
        notes.push_back(fmt::format("{}: WRONG: {}", algorithm->name, result.first_wrong));
    }
  }
  print_table(output, table);
  for (const std::string& note : notes) print_note(output, note);
  for (const std::string& reason : plan.selections.front().refused)
    print_note(output, "not here: " + reason);
  return passed;
}

ExitCode run(const Options& options) {
  options.output.validate();
  const Operation operation = parse_operation(options.operation);
  const Parameters parameters = options.parameters.resolve();
  const std::vector<Plan> plans = make_plans(options, operation, parameters);

  const OutputOptions& output = options.output;
  const MachineOptions machine = options.machine.resolve(false);
  print_setting(output, "run",
                fmt::format("{}, algorithm {}, ports {}", to_string(operation),
                            names_text(options.algorithm), options.algorithm.ports));
  print_setting(output, "variants", parameters_text(parameters));
  print_setting(output, "machine", machine_text(machine));
  print_setting(output, "host",
                fmt::format("{} cores; with more nodes than cores times are the emulator's "
                            "throughput, the model's are a network's",
                            std::thread::hardware_concurrency()));
  print_setting(
      output, "runs",
      fmt::format("{} timed after {} to warm up, verify {}, seed {}", options.run.iterations,
                  options.run.warmup, options.verify, options.run.seed));
  print_setting(output, "cost model", cost_model_text(parameters));
  bool all_passed = true;
  std::vector<Json> results;
  for (const Plan& plan : plans)
    all_passed = run_on(plan, options, parameters, results) && all_passed;
  write_results(output, results,
                options.algorithm.single() && plans.size() == 1 && options.bytes.size() == 1);
  return all_passed ? passed : failed;
}

}  // namespace

Action add_run(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App& app = *program.add_subcommand(
      "run", "Run algorithms on the machine: move real data, time and verify");
  app.add_option("OPERATION", options->operation, operations_text())->required();
  add_on_option(app, options->on, true);
  add_algorithm_options(app, options->algorithm);
  app.add_option("--bytes", options->bytes,
                 "Block size; several: separate with commas. A broadcast's block is the message")
      ->type_name("N[K|M|G][,N..]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str()
      ->group("What");
  app.add_option("--iterations", options->run.iterations, "Timed calls")
      ->type_name("N")
      ->check(CLI::Range(1, 100000000))
      ->capture_default_str()
      ->group("Measuring");
  app.add_option("--warmup", options->run.warmup, "Calls before the timed ones")
      ->type_name("N")
      ->check(CLI::Range(0, 100000000))
      ->capture_default_str()
      ->group("Measuring");
  app.add_option("--verify", options->verify, "Compare every byte of the last call's output")
      ->type_name("on|off")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str()
      ->group("Measuring");
  app.add_option("--seed", options->run.seed, "For the data, and the block sizes of alltoallv")
      ->type_name("N")
      ->capture_default_str()
      ->group("Measuring");
  add_machine_options(app, options->machine);
  add_parameter_options(app, options->parameters);
  add_output_options(app, options->output);
  app.footer(
      "Each timed call follows a barrier; its time is from the first node that starts to the last "
      "one that ends. Columns:\n"
      "  block         bytes of a block: what one pair of nodes exchanges; of a broadcast, all of "
      "it\n"
      "  algbw         a node's data / median time; all its blocks (alltoall, allgather), or the "
      "message\n"
      "  busbw         algbw x (n-1)/n for alltoall and allgather, x 1 for broadcast, as in "
      "nccl-tests\n"
      "  model         the time by the formulas with --ts --tw --tr; '-' where there is no "
      "formula\n"
      "  busiest link  bytes over the link that carried most, in one call\n"
      "  blocked       headers that waited for a channel, in the whole run with warm-up and "
      "barriers\n"
      "  parked        times that a node gave up its core to wait, in the whole run\n"
      "  peak          most memory that one node's program held, its input and output included\n"
      "  wrong         wrong bytes in the last call's output; `?` with --verify off\n\n"
      "JSON: one object if one algorithm was asked for (by name or `auto`) on one network with one "
      "size; otherwise an\n"
      "array of objects. Exit code 1 if anything is wrong.\n\n"
      "Examples:\n"
      "  wormcube run alltoall --on torus:8x8 --bytes 4K\n"
      "  wormcube run alltoall --on hypercube:6 --algorithm all --bytes 64,4K,64K --csv times.csv\n"
      "  wormcube run broadcast --on mesh:6x5 --root 7 --bytes 1M --nodes-as fibers");
  return [options] { return run(*options); };
}

}  // namespace wormcube::cli
