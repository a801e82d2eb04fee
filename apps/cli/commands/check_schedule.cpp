// The laws and counts of a schedule from a file.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/check_schedule.hpp"

#include "wormcube/apps/cli/core/json.hpp"
#include "wormcube/apps/cli/options/algorithms.hpp"
#include "wormcube/apps/cli/options/networks.hpp"
#include "wormcube/apps/cli/options/schedules.hpp"
#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/apps/cli/output/table.hpp"
#include "wormcube/apps/formats/search.hpp"
#include "wormcube/collectives/core/operations.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/check.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

/// The operation that the schedule is to perform: of --as with its arguments, or the file's.
std::optional<ScheduledCall> call_of(const ScheduleCheck& what, const NamedSchedule& named) {
  const Rank nodes = named.schedule.topology.nodes();
  if (!what.as.empty()) {
    const Operation operation = parse_operation(what.as);
    ScheduledCall call{operation, what.call.resolve(operation)};
    require_arguments(operation, nodes, call.arguments);
    return call;
  }
  for (const CLI::Option* option : {what.call.root_option, what.call.by_option,
                                    what.call.sources_option, what.call.permutation_option}) {
    if (option != nullptr && option->count() > 0)
      throw UsageError(option->get_name() + " with --schedule needs --as OPERATION");
  }
  if (!named.operation) return std::nullopt;
  return scheduled_call(*named.operation, nodes);
}

NamedReport prove(const ScheduleCheck& what, apps::ScheduleFile& file,
                  const std::optional<ScheduledCall>& call, std::size_t messages) {
  NamedSchedule& named = *file.named;
  std::optional<Goal> goal;
  if (call) goal = goal_of(call->operation, call->arguments, named.schedule.topology.nodes());
  if (std::cmp_greater(messages, what.prove_messages)) {
    NamedReport report;
    report.reason = report.arrivals =
        fmt::format("not proved: {} messages; the limit for proofs is {} (--prove-messages)",
                    messages, what.prove_messages);
    return report;
  }
  NamedReport report = prove_named(named, goal ? &*goal : nullptr);
  if (file.is_searched && !what.as.empty()) {
    apps::Searched found = apps::search_contents(
        named.schedule, *goal, named_operation(call->operation, call->arguments),
        what.block_bytes.value_or(apps::common_block_bytes(named.schedule)));
    if (found.answer == apps::Searched::Answer::cannot) {
      report.findings.push_back(found.text);
      ++report.broken;
    }
    report.reason = "searched: " + found.text;
    file.witness = std::move(found.witness);
    return report;
  }
  if (what.block_bytes)
    throw UsageError(fmt::format("--bytes has no effect: {} has its own sizes", what.file));
  if (!file.no_contents.empty() && !report.delivered) report.reason = file.no_contents;
  return report;
}

/// Networks of as many nodes on which no link carries two messages in a step, and which are not
/// complete: those that a reader would look for.
std::vector<std::string> free_networks(const Schedule& schedule, int virtual_channels) {
  const Rank nodes = schedule.topology.nodes();
  std::vector<std::string> names;
  if (nodes < 3 || nodes > 1024) return names;
  for (const char* const kind : {"line", "ring", "star"})
    names.push_back(fmt::format("{}:{}", kind, nodes));
  if (std::has_single_bit(static_cast<unsigned>(nodes)))
    names.push_back(fmt::format("hypercube:{}", std::bit_width(static_cast<unsigned>(nodes)) - 1));
  Rank rows = 1;
  for (Rank r = 2; r * r <= nodes; ++r) rows = nodes % r == 0 ? r : rows;
  if (rows > 1) {
    names.push_back(fmt::format("mesh:{}x{}", rows, nodes / rows));
    names.push_back(fmt::format("torus:{}x{}", rows, nodes / rows));
  }
  std::erase_if(names, [&](const std::string& name) {
    Schedule there{Topology::parse(name), schedule.ranks};
    for (RankLog& log : there.ranks) {
      for (OpRecord& op : log.ops) op.moves = 0;
    }
    return wormcube::check(there, Routing(there.topology, virtual_channels), true).link_load_max >
           1;
  });
  return names;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

/// A file that cannot be laid into steps: what it is, and what is wrong with it.
ExitCode report_without_steps(const Context& context, const ScheduleCheck& what,
                              const apps::ScheduleFile& file, const OutputOptions& output) {
  print_setting(output, "check", "the schedule " + what.file);
  print_setting(output, "format", file.format);
  Table table({{.head = "figure", .text = true}, {.head = "value", .text = true}});
  table.add({"operation", file.operation});
  table.add({"nodes", std::to_string(file.nodes)});
  table.add({"messages", std::to_string(file.messages)});
  table.add({"passed", "NO"});
  print_table(output, table);
  for (const std::string& finding : file.findings) print_fact(output, "FAILED", finding);
  print_note(output, "no steps: " + file.no_schedule);
  for (const std::string& note : file.notes) print_note(output, note);
  Json json{
      {"schedule", what.file},     {"format", file.format},     {"operation", file.operation},
      {"nodes", file.nodes},       {"messages", file.messages}, {"no_steps", file.no_schedule},
      {"problems", file.findings}, {"notes", file.notes},       {"passed", false}};
  std::vector<Json> results;
  results.push_back(std::move(json));
  write_results(context, output, std::move(results), true);
  return failed;
}

/// "4 start-ups (bound 3), .."
std::string bound_text(const ScheduledCall& call, const ScheduleReport& report,
                       const Topology& topology, bool all_port, const ValueForm& form) {
  const LowerBound bound =
      lower_bound(call.operation, topology, all_port ? Ports::all : Ports::one, call.arguments);
  std::string text;
  if (bound.startups) {
    text = fmt::format("{:.0f} start-up{} (this schedule: {})", *bound.startups,
                       *bound.startups == 1 ? "" : "s", report.startups);
  }
  if (bound.transmission_blocks && form.block && *form.block > 0) {
    const double least = *bound.transmission_blocks * static_cast<double>(*form.block);
    text += fmt::format("{}{:.6g} B of transmission", text.empty() ? "" : ", ", least);
    if (least > 0) {
      const double ratio = static_cast<double>(report.contended) / least;
      text += ratio == 1 ? " (this schedule: exactly that)"
                         : fmt::format(" (this schedule: {:.3g} times as much)", ratio);
    }
  }
  return text;
}

}  // namespace

ExitCode check_schedule(const Context& context, const ScheduleCheck& what,
                        const OutputOptions& output) {
  apps::ScheduleFile file = apps::read_schedule_file(what.file);
  if (!file.named) return report_without_steps(context, what, file, output);
  if (!what.on.empty()) lay_over(file, what.on);
  const NamedSchedule& named = *file.named;
  const Schedule& schedule = named.schedule;
  const Topology& topology = schedule.topology;
  const std::optional<ScheduledCall> call = call_of(what, named);
  const bool all_port = what.ports == "all" || (what.ports == "auto" && schedule.needs_all_ports());
  const ScheduleReport report =
      wormcube::check(schedule, Routing(topology, what.virtual_channels), all_port);
  NamedReport proof = prove(what, file, call, report.messages);
  proof.findings.insert(proof.findings.begin(), file.findings.begin(), file.findings.end());
  // Ports of other formats are thread blocks: as many messages to one peer as the file has.
  const bool foreign = !file.format.starts_with("wormcube");
  for (const std::string& problem : report.problems) {
    if (!foreign && proof.findings.size() < 10 &&
        std::ranges::find(proof.findings, problem) == proof.findings.end())
      proof.findings.push_back(problem);
  }
  const std::size_t found = file.findings.size() + std::max(proof.broken, report.unmatched) +
                            (foreign ? 0 : report.port_violations);
  const bool holds = proof.findings.empty() && report.deadlock_free && proof.delivered != false;

  print_setting(output, "check", "the schedule " + what.file);
  print_setting(output, "format", file.format);
  print_setting(output, "topology", topology_text(topology));
  print_setting(output, "ports", ports_text(all_port));
  if (call) {
    const std::string arguments = arguments_text(call->operation, call->arguments);
    print_setting(output, foreign && what.as.empty() ? "collective" : "as",
                  std::string(call->operation->name) + (arguments.empty() ? "" : ", " + arguments));
  }
  if (!call && !file.operation.empty()) print_setting(output, "collective", file.operation);
  Table table(
      {{.head = "figure", .text = true}, {.head = "value"}, {.head = "unit", .text = true}});
  Json json{{"schedule", what.file},         {"format", file.format},
            {"topology", topology.name()},   {"nodes", topology.nodes()},
            {"ports", ports_text(all_port)}, {"virtual_channels", what.virtual_channels}};
  put(json, "operation", call ? Json(call->operation->name) : Json(nullptr),
      "no operation is named");
  put(json, "arguments", call ? arguments_json(call->operation, call->arguments) : Json(nullptr),
      "no operation is named");
  const auto add = [&](const char* key, const char* head, auto value, const char* unit) {
    table.add({head, cell(static_cast<double>(value)), unit});
    json[key] = value;
  };
  add("steps", "steps", report.steps, "");
  add("startups", "start-ups", report.startups, "steps in which any node sends");
  add("transmission_bytes", "transmission", report.transmission, "B, largest message of each step");
  add("link_bytes", "with contention", report.contended, "B, busiest link of each step");
  add("rearranged_bytes", "rearrangement", report.rearranged, "B");
  add("combined_bytes", "combining", report.combined, "B");
  add("messages", "messages", report.messages, "");
  add("total_bytes", "sent", report.total_bytes, "B");
  add("byte_hops", "sent x links", report.byte_hops, "B");
  add("max_hops", "longest route", report.max_hops, "links");
  add("link_load_max", "link load", report.link_load_max, "messages on one link in one step");
  add("port_violations", "port violations", report.port_violations, "");
  add("unmatched", "unmatched", report.unmatched, "sends and receives without a partner");
  add("broken_laws", "broken laws", proof.broken, "of messages and values");
  if (call) {
    if (std::string bound = bound_text(*call, report, topology, all_port, named.form);
        !bound.empty())
      table.add({"lower bound", "", bound});
  }
  table.add({"deadlock-free", cell(std::optional<bool>(report.deadlock_free)), ""});
  table.add({"delivered", cell(proof.delivered), proof.reason});
  table.add(
      {"exactly once", cell(proof.exactly_once), proof.exactly_once == true ? "" : proof.arrivals});
  json["deadlock_free"] = report.deadlock_free;
  put(json, "delivered", proof.delivered ? Json(*proof.delivered) : Json(nullptr), proof.reason);
  put(json, "exactly_once", proof.exactly_once ? Json(*proof.exactly_once) : Json(nullptr),
      proof.arrivals);
  constexpr const char* no_reduction = "no proved reduction";
  const auto put_words = [&](const char* key, const std::optional<bool>& value, const char* yes,
                             const char* no) {
    put(json, key, value ? Json(*value ? yes : no) : Json(nullptr), no_reduction);
    if (value) table.add({key, *value ? yes : no, ""});
  };
  put_words("order", proof.order_changed, "changed", "kept");
  put_words("brackets", proof.brackets_alike, "alike", "differ");
  const bool is_open = holds && !proof.delivered;
  table.add({"passed",
             is_open ? "?"
             : holds ? "yes"
                     : "NO",
             is_open ? "laws hold; delivery is not proved" : ""});
  json["problems"] = proof.findings;
  if (file.witness) {
    json["witness"] = named_schedule_text(*file.witness);
    file.notes.emplace_back("the JSON key `witness` has a schedule that delivers");
  }
  json["notes"] = file.notes;
  std::vector<std::string> free;
  if (foreign) {
    free = free_networks(schedule, what.virtual_channels);
    json["free_of_contention"] = free;
  }
  json["contention"] = report.contention;
  json["passed"] = holds;
  print_table(output, table);
  for (const std::string& finding : proof.findings) print_fact(output, "FAILED", finding);
  if (found > proof.findings.size()) {
    print_note(output, fmt::format("{} more; the first {} are shown", found - proof.findings.size(),
                                   proof.findings.size()));
  }
  if (!report.deadlock_free) {
    print_fact(output, "FAILED", "its routes can deadlock: " + report.cycle);
  }
  for (const std::string& note : file.notes) print_note(output, note);
  if (foreign) {
    print_note(output, free.empty() ? "shares links on every usual network with this many nodes"
                                    : "free of contention on " + joined(free));
  }
  for (const std::string& shared : report.contention) print_note(output, "shared: " + shared);
  std::vector<Json> results;
  results.push_back(std::move(json));
  write_results(context, output, std::move(results), true);
  return holds ? passed : failed;
}

}  // namespace wormcube::cli
