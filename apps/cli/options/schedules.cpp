// Schedules from files.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/schedules.hpp"

#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/collectives/harness/schedule_algorithm.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace wormcube::cli {

void lay_over(apps::ScheduleFile& file, const std::string& on) {
  Topology topology = Topology::parse(on);
  NamedSchedule& named = *file.named;
  const Rank nodes = named.schedule.topology.nodes();
  if (topology.nodes() != nodes) {
    throw UsageError(
        fmt::format("--on {}: {} nodes; the schedule has {}", on, topology.nodes(), nodes));
  }
  named.schedule.topology = std::move(topology);
  for (RankLog& log : named.schedule.ranks) {
    log.moves.clear();
    for (OpRecord& op : log.ops) op.first_move = 0, op.moves = 0;
  }
}

void add_schedule_option(CLI::App& app, std::string& file, bool is_added) {
  app.add_option("--schedule", file,
                 is_added ? "Add the messages of a schedule file as the algorithm `schedule` "
                            "(docs/reference/schedules.md); the file supplies OPERATION and the "
                            "network unless you name them"
                          : "Use the messages of a schedule file that names the blocks in each "
                            "message (docs/reference/schedules.md); the file supplies OPERATION "
                            "and the network unless you name them")
      ->type_name("FILE")
      ->check(file_name())
      ->group("What");
}

void add_schedule_name(std::vector<std::string>& names) {
  const std::string name(schedule_algorithm_name);
  if (names == std::vector<std::string>{"auto"}) names.clear();
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

void require_no_algorithms(const std::vector<std::string>& names) {
  if (names == std::vector<std::string>{"auto"}) return;
  throw UsageError(
      "--algorithm has no effect with --schedule, which already gives the messages; `compare`, "
      "`list`, `best`, `run`, `replay` and `draw` accept both");
}

void use_schedule(const std::string& file, std::string& operation, std::string& on,
                  CallOptions& call) {
  std::vector<std::string> networks;
  if (!on.empty()) networks.push_back(on);
  use_schedule(file, operation, networks, call);
  on = networks.front();
}

void use_schedule(const std::string& file, std::string& operation, std::vector<std::string>& on,
                  CallOptions& call) {
  apps::ScheduleFile read = apps::read_steps(file);
  if (!read.no_contents.empty()) throw UsageError(fmt::format("{}: {}", file, read.no_contents));
  NamedSchedule& named = *read.named;
  if (operation.empty()) {
    if (!named.operation)
      throw UsageError(fmt::format("{} names no operation; pass OPERATION", file));
    const NamedOperation& of_file = *named.operation;
    operation = of_file.name;
    call.root = of_file.root.value_or(0);
    call.by = of_file.by.value_or(1);
    std::string sources;
    for (const Rank source : of_file.sources) sources += fmt::format("{},", source);
    if (!sources.empty()) call.sources = sources;
    if (!of_file.permutation.empty()) call.permutation = of_file.permutation;
  }
  const Operation performed = parse_operation(operation);
  const ScheduledCall scheduled{performed, call.resolve(performed)};
  require_arguments(performed, named.schedule.topology.nodes(), scheduled.arguments);
  if (on.empty()) on.emplace_back(named.schedule.topology.name());
  add_schedule_algorithm(std::move(named), scheduled, file);
}

}  // namespace wormcube::cli
