// wormcube tune: fit the cost model's constants to this emulator on this computer, as a machine
// profile.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/commands.hpp"
#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/core/time_limited.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/cluster.hpp"
#include "wormcube/apps/cli/options/cost.hpp"
#include "wormcube/apps/cli/options/help.hpp"
#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/apps/cli/output/progress.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/apps/common/cost_fit.hpp"
#include "wormcube/apps/common/machines.hpp"
#include "wormcube/apps/io/new_file.hpp"
#include "wormcube/collectives/choose/work.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/collectives/harness/run.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/cores.hpp"
#include "wormcube/runtime/machine/machine.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include <fmt/format.h>

namespace wormcube::cli {

namespace {

struct TuneCommand {
  std::vector<std::string> operations{"alltoall", "allgather", "broadcast", "reduce_scatter",
                                      "allreduce"};
  std::string on = "torus:4x4", save;
  std::vector<std::string> bytes{"64", "1K", "8K", "64K"};
  int iterations = 11;
  MachineFlags machine;
  OutputOptions output;
};

/// One algorithm with blocks of one size.
struct Measured {
  Collective collective;
  Bytes block_bytes;
  CostSample sample;
  std::int64_t work = 0;  // of all nodes
};

/// The fastest measured algorithm, and the models' picks.
struct Race {
  Operation operation;
  Bytes block_bytes;
  const Measured *best, *by_fit, *by_presets, *by_work;
  static double times(const Measured& taken, const Measured& best) {
    return taken.sample.us / best.sample.us;
  }
};

CostSample sample_of(const Prediction& prediction, Bytes block_bytes, double us) {
  const auto bytes = static_cast<double>(block_bytes);
  return {*prediction.startups, bytes * *prediction.link_blocks,
          bytes * prediction.rearranged_blocks.value_or(0),
          bytes * prediction.combined_blocks.value_or(0), us};
}

/// Every one-port algorithm with known formulas, contention included, with default options.
std::vector<Measured> measure(const Context& context, const TuneCommand& options,
                              const Topology& topology, Machine& machine) {
  std::vector<Measured> all;
  Progress progress(context, options.output, fmt::format("tune on {}", topology.name()));
  EmulationWork work(topology);
  for (const std::string& name : options.operations) {
    const Operation operation = parse_operation(name);
    if (operation->sizes != Sizes::equal || !operation->moves_data) {
      throw UsageError(
          fmt::format("tune: {} has no formulas in bytes of a block; use an operation whose blocks "
                      "have one size",
                      name));
    }
    const Arguments arguments = plain_arguments(operation);
    for (const Bytes bytes : parse_sizes(options.bytes)) {
      if (bytes == 0) throw UsageError("tune: blocks of 0 bytes cannot give the time per byte");
      for (Collective& collective : admitted(operation, topology, arguments)) {
        if (collective.algorithm->ports == Ports::all ||
            collective.algorithm->selection == wormcube::Selection::any_order) {
          continue;
        }
        collective.settle(topology, CostModel(), bytes);
        const Prediction prediction = weigh(collective, topology).prediction;
        if (!prediction.complete() || !prediction.link_blocks) continue;
        progress.doing(fmt::format("{} {}, {} B", name, collective.text(), bytes));
        CollectiveRun run;
        run.block_bytes = bytes;
        run.iterations = options.iterations;
        const RunResult result = run_collective(machine, collective, run);
        if (!result.passed()) {
          throw std::runtime_error(
              fmt::format("tune: {} {}: {}", name, collective.text(), result.first_wrong));
        }
        if (result.min_us <= 0) continue;  // one node
        // The minimum: other activity of the computer inflates all others.
        const auto& done = work(collective, bytes, false);
        if (!done.figure) throw UsageError(done.reason);
        all.push_back(
            {collective, bytes, sample_of(prediction, bytes, result.min_us), *done.figure});
      }
    }
  }
  return all;
}

/// The fitted constants as the saved profile has them. No call's hops are fitted: a hop takes a
/// flit's time.
CostModel cost_model_of(const CostFit& fit, const MachineModel& machine) {
  CostModel model = fit.model;
  model.flit_bytes = static_cast<double>(machine.flit_bytes);
  model.hop_us = microseconds_of(machine.hop);
  return model;
}

double us_of(const CostModel& model, const CostSample& sample) {
  CostFit fit;
  fit.model = model;
  return fit.fitted_us(sample);
}

std::vector<Race> races(const std::vector<Measured>& all, const CostModel& fitted) {
  std::vector<Race> races;
  for (const Measured& measured : all) {
    const Operation operation = measured.collective.operation();
    const auto same = [&](const Race& race) {
      return race.operation == operation && race.block_bytes == measured.block_bytes;
    };
    auto race = std::ranges::find_if(races, same);
    if (race == races.end()) {
      races.push_back({operation, measured.block_bytes, &measured, nullptr, nullptr, nullptr});
      race = races.end() - 1;
    }
    const auto take = [&](const Measured*& taken, const auto& figure) {
      if (taken == nullptr || figure(measured) < figure(*taken)) taken = &measured;
    };
    take(race->best, [](const Measured& each) { return each.sample.us; });
    if (!is_chosen_by_auto(*measured.collective.algorithm)) continue;
    take(race->by_fit, [&](const Measured& each) { return us_of(fitted, each.sample); });
    take(race->by_presets, [](const Measured& each) { return us_of(CostModel(), each.sample); });
    take(race->by_work, [](const Measured& each) { return each.work; });
  }
  std::erase_if(races, [](const Race& race) { return race.by_fit == nullptr; });
  return races;
}

/// The constants in whole picoseconds: a flit of 64 bytes, rates for a KiB.
MachineProfile profile_of(const TuneCommand& options, const Topology& topology, const CostFit& fit,
                          std::size_t samples) {
  constexpr double ps = 1e6;  // in a microsecond
  constexpr std::int64_t flit_bytes = 64, kib = 1024;
  MachineProfile profile;
  profile.name = "tuned";
  profile.network = topology.name();
  profile.unit = "worm";
  MachineModel& model = profile.model;
  profile.startup = model.startup = std::llround(fit.model.startup_us * ps);
  model.flit_bytes = flit_bytes;
  model.flit = std::max<Ticks>(
      1, std::llround(fit.model.transfer_us * ps * static_cast<double>(flit_bytes)));
  profile.hop = model.hop = model.credit = model.flit;
  profile.rearranges = fit.has_rearrange && fit.has_combine;
  const auto rate = [&](double us_per_byte) {
    return Rate{std::llround(us_per_byte * ps * static_cast<double>(kib)), kib};
  };
  model.rearrange = rate(fit.model.rearrange_us);
  model.combine = rate(fit.model.combine_us);
  profile.notes = {
      fmt::format("this emulator, nodes as {}, {} cores, fitted to the minimum times of {} series "
                  "of {} calls; relative error: root mean square {:.0f}%, median {:.0f}%, largest "
                  "{:.0f}%; valid only for this network and executor, and only for choosing "
                  "algorithms, because a node's steps include the time of all nodes' messages on "
                  "these cores",
                  options.machine.executor, usable_cores(), samples, options.iterations,
                  100 * fit.rms, 100 * fit.median, 100 * fit.largest)};
  profile.source = "wormcube tune";
  return profile;
}

struct Regret {
  double mean = 1, worst = 1;
};
Regret regret(const std::vector<Race>& races, const Measured* Race::*taken) {
  Regret regret{0, 1};
  for (const Race& race : races) {
    const double times = Race::times(*(race.*taken), *race.best);
    regret.mean += std::log(times) / static_cast<double>(races.size());
    regret.worst = std::max(regret.worst, times);
  }
  regret.mean = std::exp(regret.mean);
  return regret;
}

Json regret_json(const Regret& regret) {
  return {{"mean_times_best", regret.mean}, {"worst_times_best", regret.worst}};
}

void save(const std::string& file, const MachineProfile& profile) {
  if (file.empty()) return;
  apps::NewFile out(file);
  out.write(machine_json(profile));
  out.finish();
}

ExitCode tune(Context& context, const TuneCommand& options) {
  const CommandLimit limit(context, options.machine.time_limit_ms());
  const OutputOptions& output = options.output;
  output.validate();
  require_writable(options.save);
  if (options.save == "-") {
    throw UsageError("--save -: expected a file name; for JSON on standard output use --json -");
  }
  const Topology topology = parse_topology(options.on);
  topology.require_routable();
  require_workers(options.machine, topology);
  const MachineOptions settings = options.machine.resolve(context, false);
  print_setting(output, "tune", fmt::format("{}", fmt::join(options.operations, ", ")));
  print_setting(output, "topology", topology_text(topology));
  print_setting(output, "machine", machine_text(settings));
  print_setting(output, "host", fmt::format("{} cores", usable_cores()));
  Machine machine(topology, settings);
  const std::vector<Measured> all = measure(context, options, topology, machine);
  std::vector<CostSample> samples;
  for (const Measured& measured : all) samples.push_back(measured.sample);
  const auto fit = fit_costs(samples);
  if (!fit || all.size() < 8) {
    throw UsageError(
        fmt::format("tune: {} calls with formulas on {} are too few for four constants; add "
                    "operations, sizes or nodes",
                    all.size(), topology.name()));
  }
  const MachineProfile profile = profile_of(options, topology, *fit, samples.size());
  const CostModel fitted = cost_model_of(*fit, profile.model);
  const std::vector<Race> all_races = races(all, fit->model);
  const Regret by_fit = regret(all_races, &Race::by_fit),
               by_presets = regret(all_races, &Race::by_presets),
               by_work = regret(all_races, &Race::by_work);

  Table table({{.head = "operation", .text = true},
               {.head = "block", .unit = "B"},
               {.head = "fastest", .text = true, .answer = true},
               {.head = "minimum", .unit = "us"},
               {.head = "auto, fitted", .text = true, .cut = 14},
               {.head = "fitted / fastest"},
               {.head = "auto, default", .text = true, .cut = 14, .drop = 1},
               {.head = "default / fastest", .drop = 2},
               {.head = "by work", .text = true, .cut = 14, .drop = 3},
               {.head = "work / fastest", .drop = 4}});
  for (const Race& race : all_races) {
    table.add({std::string(race.operation->name), std::to_string(race.block_bytes),
               race.best->collective.text(), cell_rate(race.best->sample.us),
               race.by_fit->collective.text(),
               fmt::format("{:.2f}", Race::times(*race.by_fit, *race.best)),
               race.by_presets->collective.text(),
               fmt::format("{:.2f}", Race::times(*race.by_presets, *race.best)),
               race.by_work->collective.text(),
               fmt::format("{:.2f}", Race::times(*race.by_work, *race.best))},
              true);
  }
  print_table(output, table);
  print_note(output, fmt::format("fitted to the minimum times of {} series of {} calls: {}",
                                 samples.size(), options.iterations, cost_model_text(fitted)));
  print_note(output, fmt::format("(fitted - measured) / measured: root mean square {:.2f}, median "
                                 "{:.2f}, largest {:.2f}",
                                 fit->rms, fit->median, fit->largest));
  print_note(
      output,
      fmt::format(
          "time of auto's pick / time of the fastest: {:.2f} on average (geometric), {:.2f} at "
          "worst; with default constants {:.2f} and {:.2f}; with --cost work {:.2f} and {:.2f}",
          by_fit.mean, by_fit.worst, by_presets.mean, by_presets.worst, by_work.mean,
          by_work.worst));
  for (const auto& [is_known, name] :
       {std::pair(fit->has_rearrange, "rearranging"), std::pair(fit->has_combine, "combining")}) {
    if (!is_known)
      print_note(output, fmt::format("no call measures {}: it costs nothing in the fit", name));
  }
  save(options.save, profile);
  if (!options.save.empty()) {
    print_note(output, fmt::format("saved: --machine {}",
                                   options.save.find_first_of("./") == std::string::npos
                                       ? "./" + options.save
                                       : options.save));
  }

  Json json{{"topology", topology.name()}, {"nodes", topology.nodes()}};
  add_machine_json(context, json, options.machine, settings, topology.nodes());
  json["iterations"] = options.iterations;
  json["fitted"] = cost_model_json(fitted);
  json["residual"] = {{"rms", fit->rms}, {"median", fit->median}, {"largest", fit->largest}};
  json["auto"] = {{"fitted", regret_json(by_fit)},
                  {"presets", regret_json(by_presets)},
                  {"work", regret_json(by_work)}};
  json["samples"] = Json::array();
  for (const Measured& measured : all) {
    json["samples"].push_back({{"operation", measured.collective.operation()->name},
                               {"algorithm", measured.collective.text()},
                               {"block_bytes", measured.block_bytes},
                               {"time_min_us", measured.sample.us},
                               {"fitted_us", fit->fitted_us(measured.sample)},
                               {"work_bytes", measured.work}});
  }
  json["profile"] = Json::parse(machine_json(profile));
  write_results(context, output, {std::move(json)}, true);
  return passed;
}

}  // namespace

Action add_tune(CLI::App& program) {
  auto options = std::make_shared<TuneCommand>();
  CLI::App& app = *program.add_subcommand("tune",
                                          "Measure the emulator on this computer, and fit the cost "
                                          "model's constants to the results, as a machine profile");
  app.add_option("OPERATION", options->operations,
                 "Operations to measure (default: alltoall, allgather, broadcast, reduce_scatter, "
                 "allreduce)");
  app.add_option("--on", options->on, "The network")
      ->type_name("TOPOLOGY")
      ->capture_default_str()
      ->group("What");
  add_sizes_option(app, options->bytes, "Block sizes");
  app.add_option("--iterations", options->iterations,
                 "Number of timed calls per algorithm and size; the shortest time counts")
      ->type_name("N")
      ->check(between(1, 1000000))
      ->capture_default_str()
      ->group("Measuring");
  app.add_option("--save", options->save, "Save the profile for --machine FILE.json")
      ->type_name("FILE.json")
      ->check(file_name())
      ->group("Output");
  add_machine_options(app, options->machine, Executors::in_this_process);
  add_output_options(app, options->output, true, false);
  app.footer(
      "Every one-port algorithm that has formulas runs with blocks of every size. The fit "
      "minimises the sum of squared relative errors, with no constant below 0. For each operation "
      "and size, the table shows the fastest algorithm and the algorithms that `auto` picks with "
      "the fitted constants, with the default constants, and by work (--cost work, which needs no "
      "profile). For each pick, it also shows the pick's time divided by the fastest time.\n\n"
      "Times reflect the emulator's throughput. A profile is therefore valid only for this "
      "computer, network and executor, and only for choosing algorithms. The report shows how well "
      "the profile fits. No constants can model caches, shared cores, or links that cost "
      "nothing.\n\n"
      "Examples:\n"
      "  wormcube tune --on torus:8x8 --executor fibers --save ./here.json\n"
      "  wormcube run alltoall --on torus:8x8 --executor fibers --machine ./here.json --bytes 4K\n"
      "  wormcube tune allreduce reduce --on hypercube:5 --bytes 8..64K");
  return [options](Context& context) { return tune(context, *options); };
}

}  // namespace wormcube::cli
