// The laws and counts of a schedule from a file.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/check_schedule.hpp"

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/schedules.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/runtime/schedule/check.hpp"

#include <fmt/core.h>

namespace wormcube::cli {

ExitCode check_schedule(const Context& context, const std::string& file, bool all_port,
                        int virtual_channels, const OutputOptions& output) {
  const Schedule schedule = read_schedule(file);
  const Topology& topology = schedule.topology;
  const ScheduleReport report =
      wormcube::check(schedule, Routing(topology, virtual_channels), all_port);
  const bool holds = report.matched() && report.port_violations == 0 && report.deadlock_free;
  constexpr const char* no_contents = "a schedule has sizes but no contents";

  print_setting(output, "check", "the schedule " + file);
  print_setting(output, "topology", topology_text(topology));
  print_setting(output, "ports", ports_text(all_port));
  Table table(
      {{.head = "figure", .text = true}, {.head = "value"}, {.head = "unit", .text = true}});
  Json json{{"schedule", file},
            {"topology", topology.name()},
            {"nodes", topology.nodes()},
            {"ports", ports_text(all_port)},
            {"virtual_channels", virtual_channels}};
  const auto add = [&](const char* key, const char* head, auto value, const char* unit) {
    table.add({head, cell(static_cast<double>(value)), unit});
    json[key] = value;
  };
  add("steps", "steps", report.steps, "");
  add("startups", "start-ups", report.startups, "steps in which any node sends");
  add("transmission_bytes", "transmission", report.transmission, "B, largest message of each step");
  add("link_bytes", "the same as time", report.contended, "B, with contention");
  add("rearranged_bytes", "rearrangement", report.rearranged, "B");
  add("combined_bytes", "combining", report.combined, "B");
  add("messages", "messages", report.messages, "");
  add("total_bytes", "sent", report.total_bytes, "B");
  add("byte_hops", "sent x links", report.byte_hops, "B");
  add("max_hops", "longest route", report.max_hops, "links");
  add("link_load_max", "link load", report.link_load_max, "messages on one link in one step");
  add("port_violations", "port violations", report.port_violations, "");
  add("unmatched", "unmatched", report.unmatched, "sends and receives without a partner");
  table.add({"deadlock-free", cell(std::optional<bool>(report.deadlock_free)), ""});
  table.add({"delivered", "?", no_contents});
  table.add({"passed", holds ? "yes" : "NO", "matched, ports, deadlock"});
  json["deadlock_free"] = report.deadlock_free;
  put(json, "delivered", nullptr, no_contents);
  json["problems"] = report.problems;
  json["contention"] = report.contention;
  json["passed"] = holds;
  print_table(output, table);
  for (const std::string& problem : report.problems) print_fact(output, "FAILED", problem);
  if (!report.deadlock_free) print_fact(output, "FAILED", report.cycle);
  for (const std::string& shared : report.contention) print_note(output, "shared: " + shared);
  std::vector<Json> results;
  results.push_back(std::move(json));
  write_results(context, output, std::move(results), true);
  return holds ? passed : failed;
}

}  // namespace wormcube::cli
