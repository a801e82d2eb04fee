// The figures of `wormcube replay`.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/replay_figures.hpp"

#include "wormcube/apps/cli/options/cost.hpp"
#include "wormcube/collectives/harness/weigh.hpp"

#include <fmt/core.h>

namespace wormcube::cli {

/// The start-ups, one after the other, until data from one node can be at all nodes that need it. In
/// a step a node receives one message, but in time it receives any number after one start-up.
static double rounds_of_senders(const Collective& collective, const Topology& topology,
                                Ports ports) {
  const Instance on{topology.nodes(), collective.arguments};
  Rank getting = 0;
  for (Rank v = 0; v < on.nodes; ++v) {
    getting += collective.operation()->ends_with(on, v) > 0 ? 1 : 0;
  }
  if (getting == 0) getting = on.nodes;  // a barrier
  double rounds = 0;
  const double spread = limits(topology, ports).most_ports + 1;
  for (double reached = 1; reached < std::min(getting + 1, on.nodes); reached *= spread) ++rounds;
  return rounds;
}

ReplayBounds bounds_of(const ReplayTask& task, const Schedule& schedule, const Routing& routing,
                       const MachineModel& model) {
  ReplayBounds bounds;
  bounds.schedule = schedule_bounds(schedule, routing, model);
  if (task.collective == nullptr) return bounds;
  const Collective& collective = *task.collective;
  const Ports ports = model.all_port ? Ports::all : Ports::one;
  const LowerBound bound =
      lower_bound(collective.operation(), schedule.topology, ports, collective.arguments);
  if (bound.startups && *bound.startups > 0) {
    const auto rounds = static_cast<Ticks>(
        std::min(*bound.startups, rounds_of_senders(collective, schedule.topology, ports)));
    bounds.startups = (rounds - 1) * (model.startup + model.flit) + model.alone(1, 1);
  }
  const auto carries = [&](const std::optional<double>& blocks, Ticks flit) {
    std::optional<Ticks> time;
    if (!blocks || collective.operation()->sizes != Sizes::equal) return time;
    const auto flits = static_cast<std::int64_t>(*blocks * static_cast<double>(task.block_bytes) /
                                                 static_cast<double>(model.flit_bytes));
    if (flits > 0) time = model.startup + model.hop + flits * flit;
    return time;
  };
  bounds.ports = carries(bound.port_blocks, model.port_flit());
  bounds.links = carries(bound.transmission_blocks, model.flit);
  return bounds;
}

Json replayed_message_json(const ReplayedMessage& m) {
  Json json{{"step", m.step}, {"from", m.from},   {"to", m.to},
            {"tag", m.tag},   {"bytes", m.bytes}, {"hops", m.hops}};
  const auto time = [&](const char* name, Ticks ticks) {
    put(json, name, ticks == no_tick ? Json(nullptr) : Json(ticks), "the deadlock came first");
  };
  time("posted_ps", m.posted);
  time("sent_ps", m.sent);
  time("delivered_ps", m.delivered);
  json["waited_ps"] = m.waited;
  json["shared_ps"] = m.shared;
  return json;
}

Json replayed_links_json(const Replay& replay, const Routing& routing) {
  Json list = Json::array();
  for (const ReplayedChannel& channel : replay.channels) {
    const Link link = routing.link(channel.channel);
    list.push_back({{"link", link},
                    {"link_name", routing.topology().link_name(link)},
                    {"virtual_channel", routing.virtual_channel(channel.channel)},
                    {"messages", channel.messages},
                    {"flits", channel.flits},
                    {"busy_ps", channel.busy},
                    {"waited_ps", channel.waited}});
  }
  return list;
}

Json replayed_nodes_json(const Replay& replay) {
  Json list = Json::array();
  for (std::size_t v = 0; v < replay.finish.size(); ++v) {
    Json node{{"node", v}, {"steps_ps", replay.steps[v]}};
    put(node, "finish_ps", replay.finish[v] == no_tick ? Json(nullptr) : Json(replay.finish[v]),
        "the deadlock came first");
    list.push_back(std::move(node));
  }
  return list;
}

UseOfLinks link_use(const Replay& replay, const Routing& routing) {
  UseOfLinks use;
  if (!replay.time || *replay.time == 0) return use;
  Ticks all = 0, most = 0, busy = 0;
  Link link = -1, busiest = -1;
  for (const ReplayedChannel& channel : replay.channels) {  // a link's entries are adjacent
    const Link here = routing.link(channel.channel);
    busy = (here == link ? busy : 0) + channel.busy;
    link = here;
    all += channel.busy;
    if (busy > most) most = busy, busiest = link;
  }
  const auto time = static_cast<double>(*replay.time);
  if (busiest >= 0) {
    use = {static_cast<double>(most) / time, 0, routing.topology().link_name(busiest)};
  }
  if (routing.topology().links() > 0) {
    use.mean = static_cast<double>(all) / time / static_cast<double>(routing.topology().links());
  }
  return use;
}

Json critical_path_json(const std::vector<PathPiece>& path) {
  Json list = Json::array();
  for (const PathPiece& piece : path) {
    Json json{{"kind", to_string(piece.kind)},
              {"from_ps", piece.from},
              {"to_ps", piece.to},
              {"node", piece.node},
              {"step", piece.step}};
    put(json, "to", piece.peer < 0 ? Json(nullptr) : Json(piece.peer), "own work");
    json["bytes"] = piece.bytes;
    list.push_back(std::move(json));
  }
  return list;
}

std::string seconds_cell(Ticks ticks) { return cell_rate(static_cast<double>(ticks) / 1e6); }

std::vector<Table::Column> replay_columns(std::size_t topology_width, std::size_t name_width) {
  return {{.head = "topology", .text = true, .width = topology_width, .cut = 12},
          {.head = "algorithm", .text = true, .width = name_width},
          {.head = "ports", .text = true, .wide = true},
          {.head = "block", .unit = "B", .width = 7},
          {.head = "time", .unit = "us", .width = 8},
          {.head = "lock step", .unit = "us", .width = 9, .drop = 2},
          {.head = "formula", .unit = "us", .width = 8},
          {.head = "bound", .unit = "us", .width = 8, .drop = 1},
          {.head = "eff.", .unit = "%", .width = 5},
          {.head = "blocked", .width = 7, .drop = 4},
          {.head = "lost", .unit = "us", .width = 8, .wide = true},
          {.head = "at ports", .unit = "us", .width = 8, .wide = true},
          {.head = "late", .unit = "us", .width = 8, .wide = true},
          {.head = "busiest", .unit = "%", .width = 7, .drop = 3},
          {.head = "mean", .unit = "%", .wide = true},
          {.head = "messages", .width = 8, .wide = true}};
}

/// What limits a call, in blocks and microseconds per byte.
static std::pair<double, double> moved(const Prediction& p, const CostModel& cost, Limit limit) {
  switch (limit) {
    case Limit::ports:
      break;
    case Limit::link:
      return {p.link_blocks.value_or(0), cost.link_byte_us()};
    case Limit::bus:
      return {p.injected_blocks.value_or(0), cost.bus_us.value_or(0)};
  }
  return {p.transmission_blocks.value_or(0), cost.transfer_us};
}

std::vector<std::string> explanation(const ReplayTask& task, const Topology& topology,
                                     const CostModel& cost) {
  const Weighed weighed =
      weigh(*task.collective, topology, task.block_bytes, cost.bus_us.has_value());
  const auto time = weighed.parts(cost, task.block_bytes);
  if (!time) return {fmt::format("{}: {}", task.name, no_counts)};
  const Prediction& p = weighed.prediction;
  const CallCounts counts = call_counts(p, task.block_bytes);
  const auto m = static_cast<double>(task.block_bytes);
  std::string formula, numbers, parts;
  const auto add = [&](std::string_view name, double count, double us, double part) {
    if (count == 0) return;
    const char* const plus = formula.empty() ? "  " : " + ";
    const bool of_bytes = name.find(" x m") != std::string_view::npos;
    formula += fmt::format("{}{} x {:g}", plus, name, count);
    numbers += of_bytes ? fmt::format("{}{:g} x {:g} x {:g}", plus, us, m, count)
                        : fmt::format("{}{:g} x {:g}", plus, us, count);
    parts += fmt::format("{}{:g}", plus, part);
  };
  add("ts", counts.startups, cost.startup_us, time->startups_us);
  const auto [blocks, byte_us] = moved(p, cost, time->limit);
  add("th", time->limit == Limit::ports ? counts.hops : counts.startups, cost.link_hop_us(),
      time->hops_us);
  add("tw x m", blocks, byte_us, time->transfer_us);
  add("tr x m", p.rearranged_blocks.value_or(0), cost.rearrange_us, time->rearrange_us);
  add("tc x m", p.combined_blocks.value_or(0), cost.combine_us, time->combine_us);
  std::vector<std::string> lines{
      fmt::format("{} on {}, blocks of {} B:", task.name, topology.name(), task.block_bytes),
      formula, numbers,
      parts + fmt::format(" = {:.8g} us{}", time->total_us,
                          weighed.at_least() ? ", a lower bound" : "")};
  lines.emplace_back(time->limit == Limit::link
                         ? "  limited by the busiest link: it carries more than the longest message"
                     : time->limit == Limit::bus
                         ? "  limited by the bus of the busiest node, which its ports share"
                         : "  limited by the ports: the longest message, over the longest route");
  if (cost.flit_bytes > 1 && time->transfer_us > 0) {
    lines.push_back(fmt::format("  (each message is at least a flit of {:g} B)", cost.flit_bytes));
  }
  lines.push_back(fmt::format("  source: {}", task.collective->algorithm->source));
  return lines;
}

}  // namespace wormcube::cli
