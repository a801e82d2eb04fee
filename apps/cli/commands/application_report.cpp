// An application's report of its run, and its JSON.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/application.hpp"
#include "wormcube/apps/cli/options/cluster.hpp"
#include "wormcube/apps/cli/options/cost.hpp"
#include "wormcube/collectives/harness/run.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace wormcube::cli {

using namespace apps;

namespace {

void print_topology(const OutputOptions& output, const RunFigures& figures) {
  print_setting(output, "topology",
                fmt::format("{} ({} node{})", figures.topology, figures.nodes,
                            figures.nodes == 1 ? "" : "s"));
}

/// How `auto` chose; empty: the user named the algorithm.
std::string chosen_text(const ApplicationOptions& options) {
  if (options.algorithm != "auto") return {};
  if (options.choice.by_work()) return " (auto: least work by dry run)";
  return options.choice.by_replay() ? " (auto: fastest by replay)"
                                    : " (auto: lowest modelled time)";
}

/// "alltoall shift (auto: lowest modelled time) [remark], 3 in a run"
std::string text(const UsedCollective& used, int dimensions, const std::string& chosen) {
  return fmt::format(
      "{} {}{}{}, {} in a run", used.operation, used.algorithm, chosen,
      is_of_results(used.remark, dimensions) ? fmt::format(" [{}]", used.remark) : "", used.calls);
}

/// The parts of the modelled time other than messages.
std::string computing_text(const ApplicationOptions& options) {
  if (options.gigaflops == 0 && options.memory_gb == 0) {
    return "messages, rearranging, combining; without computing (see --flops, --memory-rate)";
  }
  std::string text;
  if (options.gigaflops > 0) text += fmt::format("{} Gflop/s", options.gigaflops);
  if (options.memory_gb > 0) {
    text += fmt::format("{}{} GB/s of memory", text.empty() ? "" : " or ", options.memory_gb);
  }
  return fmt::format("messages, rearranging, combining, and computing at {}{}", text,
                     options.gigaflops > 0 && options.memory_gb > 0 ? ", the longer" : "");
}

void print_machine_and_runs(const Context& context, const ApplicationOptions& options,
                            const MachineOptions& machine) {
  const OutputOptions& output = options.output;
  if (options.algorithm == "auto" || options.choice.has_machine() ||
      options.choice.by != "formula") {
    print_choice(output, options.choice, options.cost_model());
  }
  if (options.choice.has_machine()) {
    print_setting(output, "modelled", computing_text(options));
  }
  print_machine(context, output, options.machine, machine);
  print_setting(
      output, "runs",
      fmt::format("{} timed after {} to warm up; figures are from the run with the median wall "
                  "time",
                  options.run.iterations, options.run.warmup));
}

}  // namespace

void print_run(const Context& context, const ApplicationOptions& options, const RunFigures& figures,
               const MachineOptions& machine) {
  const OutputOptions& output = options.output;
  const UsedCollective& exchange = figures.collectives.front();
  print_topology(output, figures);
  print_setting(output, "exchange",
                fmt::format("{}, blocks up to {}, padding {}",
                            text(exchange, figures.dimensions, chosen_text(options)),
                            bytes_text(static_cast<double>(figures.block_bytes)),
                            bytes_text(static_cast<double>(figures.padding))));
  print_setting(output, "ports",
                fmt::format("{} (the exchange is {}-port)", ports_text(machine.all_port),
                            to_string(exchange.ports)));
  print_machine_and_runs(context, options, machine);
}

void print_collectives_run(const Context& context, const ApplicationOptions& options,
                           const RunFigures& figures, const MachineOptions& machine) {
  const OutputOptions& output = options.output;
  print_topology(output, figures);
  for (const UsedCollective& used : figures.collectives) {
    print_setting(output, "collective", text(used, figures.dimensions, chosen_text(options)));
  }
  print_setting(output, "ports", ports_text(machine.all_port));
  print_machine_and_runs(context, options, machine);
}

namespace {

TimeSummary summarize_walls(const RunFigures& figures) {
  std::vector<double> times;
  for (const std::chrono::nanoseconds wall : figures.walls) times.push_back(microseconds(wall));
  return summarize(std::move(times));
}

}  // namespace

Table figures_table(const RunFigures& figures) {
  Table table({{"quantity", "", true}, {"value"}, {"unit", "", true}});
  const auto time = [&](std::string name, std::chrono::nanoseconds value) {
    table.add({std::move(name), cell_rate(microseconds(value)), "us"});
  };
  const auto count = [&](std::string name, auto value, std::string unit) {
    table.add({std::move(name), cell(static_cast<double>(value)), std::move(unit)});
  };
  time("wall time", figures.wall);
  if (figures.walls.size() > 1) {
    const TimeSummary wall = summarize_walls(figures);
    table.add({"wall time, minimum", cell_rate(wall.min), "us"});
    table.add({"wall time, quartile 1", cell_rate(wall.quartile1), "us"});
    table.add({"wall time, quartile 3", cell_rate(wall.quartile3), "us"});
    table.add({"wall time, maximum", cell_rate(wall.max), "us"});
  }
  if (const CoreTimes& cores = figures.cores; cores.cores > 0) {
    time(fmt::format("{} cores' time", cores.cores), cores.cores * figures.wall);
    time("  computing", cores.computing);
    time("  rearranging", cores.rearranging);
    time("  combining", cores.combining);
    time("  host copies", figures.host);
    time("  moving data", cores.moving_data);
    time("  network, switching", cores.network);
    time("  idle", cores.idle);
  }
  count("messages", figures.messages, "");
  count("bytes moved", figures.bytes_moved, "B");
  if (figures.has_links) {
    count("links used", figures.links_used, "");
    count("busiest link", figures.link_messages_max, "messages");
    count("bytes of the busiest link", figures.link_bytes_max, "B");
    count("blocked headers", figures.blocked, "");
  }
  count("peak memory of a node", figures.peak_bytes, "B");
  if (figures.schedule) {
    count("steps", figures.schedule->steps, "");
    count("start-ups", figures.schedule->startups, "");
    count("link load", figures.schedule->link_load_max, "messages per link and step");
    count("longest route", figures.schedule->max_hops, "links");
  }
  if (const auto& modelled = figures.modelled) {
    const auto ticks = [&](std::string name, Ticks value) {
      table.add({std::move(name), cell_rate(static_cast<double>(value) / 1e6), "us"});
    };
    if (!modelled->time) {
      table.add({"modelled time", "?", modelled->reason});
      return table;
    }
    ticks("modelled time", *modelled->time);
    ticks("  start-ups", modelled->startups);
    ticks("  transfer", modelled->transfer);
    ticks("  contention", modelled->contention);
    ticks("  rearranging", modelled->rearranging);
    ticks("  combining", modelled->combining);
    ticks("  computing", modelled->computing);
    count("modelled, blocked messages", modelled->blocked, "");
  }
  return table;
}

namespace {

void add_collective_json(Json& json, const UsedCollective& used) {
  json["operation"] = used.operation;
  json["algorithm"] = used.algorithm;
  json["ports"] = to_string(used.ports);
  put(json, "remark", used.remark.empty() ? Json(nullptr) : Json(used.remark), "nothing to remark");
}

/// The fields that every application has.
Json cost_json(const RunFigures& figures) {
  Json result{{"block_bytes", figures.block_bytes},
              {"padding_bytes", figures.padding},
              {"messages", figures.messages},
              {"bytes_moved", figures.bytes_moved},
              {"links_used", figures.links_used},
              {"link_messages_max", figures.link_messages_max},
              {"link_bytes_max", figures.link_bytes_max},
              {"blocked", figures.blocked},
              {"peak_bytes", figures.peak_bytes}};
  Json& times = result["times_us"] = Json::array();
  for (const std::chrono::nanoseconds wall : figures.walls) times.push_back(microseconds(wall));
  const TimeSummary wall = summarize_walls(figures);
  result["time_min_us"] = wall.min;
  result["time_quartile1_us"] = wall.quartile1;
  result["time_median_us"] = wall.median;
  result["time_quartile3_us"] = wall.quartile3;
  result["time_max_us"] = wall.max;
  result["median_run_us"] = {{"wall", microseconds(figures.wall)},
                             {"cores", figures.cores.cores},
                             {"computing", microseconds(figures.cores.computing)},
                             {"rearranging", microseconds(figures.cores.rearranging)},
                             {"combining", microseconds(figures.cores.combining)},
                             {"host", microseconds(figures.host)},
                             {"moving_data", microseconds(figures.cores.moving_data)},
                             {"network", microseconds(figures.cores.network)},
                             {"idle", microseconds(figures.cores.idle)}};
  if (!figures.has_links) {
    for (const char* name : {"links_used", "link_messages_max", "link_bytes_max", "blocked"}) {
      put(result, name, nullptr, no_links);
    }
  }
  if (figures.schedule) {
    const ScheduleReport& report = *figures.schedule;
    result["schedule"] = {{"steps", report.steps},
                          {"startups", report.startups},
                          {"transmission_bytes", report.transmission},
                          {"rearranged_bytes", report.rearranged},
                          {"byte_hops", report.byte_hops},
                          {"max_hops", report.max_hops},
                          {"link_load_max", report.link_load_max},
                          {"port_violations", report.port_violations},
                          {"matched", report.matched()},
                          {"deadlock_free", report.deadlock_free}};
  } else {
    put(result, "schedule", nullptr, "not recorded: too many messages for a dry run");
  }
  return result;
}

}  // namespace

Json figures_json(const RunFigures& figures) {
  Json json{{"topology", figures.topology}, {"nodes", figures.nodes}};
  const UsedCollective& exchange = figures.collectives.front();
  add_collective_json(json, exchange);
  json["exchanges"] = exchange.calls;
  json.update(cost_json(figures));
  return json;
}

Json collectives_json(const RunFigures& figures) {
  Json json{{"topology", figures.topology}, {"nodes", figures.nodes}};
  json["collectives"] = Json::array();
  for (const UsedCollective& used : figures.collectives) {
    Json entry;
    add_collective_json(entry, used);
    entry["calls"] = used.calls;
    json["collectives"].push_back(std::move(entry));
  }
  json.update(cost_json(figures));
  return json;
}

void add_settings_json(const Context& context, Json& json, const ApplicationOptions& options,
                       const MachineOptions& machine, Rank nodes) {
  json["machine_ports"] = ports_text(machine.all_port);
  add_machine_json(context, json, options.machine, machine, nodes);
  json["iterations"] = options.run.iterations;
  json["warmup"] = options.run.warmup;
  json["seed"] = options.seed;
  json["cost_model"] = cost_model_json(options.cost_model());
}

Json modelled_json(const ApplicationOptions& options, const RunFigures& figures) {
  const auto& run = figures.modelled;
  Json json{{"model", model_json(options.choice.resolve(), options.machine.virtual_channels)}};
  json["model"]["lock_step"] = options.machine.lock_step;
  const auto rate = [&](const char* name, double value) {
    put(json, name, value > 0 ? Json(value) : Json(nullptr), "not given");
  };
  rate("gigaflops", options.gigaflops);
  rate("memory_gb_per_s", options.memory_gb);
  json["computing"] = options.gigaflops + options.memory_gb > 0 ? "counted" : "left out";
  const bool has_time = run && run->time;
  const std::string reason = run ? run->reason : "another process has it";
  put(json, "time_ps", has_time ? Json(*run->time) : Json(nullptr), reason);
  if (has_time) {
    json["parts_ps"] = {{"startups", run->startups},     {"transfer", run->transfer},
                        {"contention", run->contention}, {"rearranging", run->rearranging},
                        {"combining", run->combining},   {"computing", run->computing}};
    json["messages"] = run->messages;
    json["blocked_messages"] = run->blocked;
    json["blocked_ps"] = run->lost;
  }
  return json;
}

}  // namespace wormcube::cli
