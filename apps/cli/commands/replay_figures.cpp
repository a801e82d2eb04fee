// The figures of `wormcube replay`.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/replay_figures.hpp"

#include "wormcube/apps/cli/options/cost.hpp"

#include <fmt/core.h>

namespace wormcube::cli {

ReplayBounds bounds_of(const ReplayTask& task, const Schedule& schedule, const Routing& routing,
                       const MachineModel& model) {
  ReplayBounds bounds;
  bounds.schedule = schedule_bounds(schedule, routing, model);
  if (task.collective == nullptr) return bounds;
  const Collective& collective = *task.collective;
  const LowerBound bound =
      lower_bound(collective.operation(), schedule.topology,
                  model.all_port ? Ports::all : Ports::one, collective.arguments);
  if (bound.startups && *bound.startups > 0) {
    const auto rounds = static_cast<Ticks>(*bound.startups);
    bounds.startups = (rounds - 1) * (model.startup + model.flit) + model.alone(1, 1);
  }
  if (bound.transmission_blocks && collective.operation()->sizes == Sizes::equal) {
    const auto flits = static_cast<std::int64_t>(*bound.transmission_blocks *
                                                 static_cast<double>(task.block_bytes) /
                                                 static_cast<double>(model.flit_bytes));
    if (flits > 0) bounds.transmission = model.alone(flits, 1);
  }
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

std::vector<std::string> explanation(const ReplayTask& task, const Topology& topology,
                                     const CostModel& cost) {
  const Prediction p = task.collective->predict(topology);
  const auto m = static_cast<double>(task.block_bytes);
  std::vector<std::string> lines;
  if (!p.startups || (!p.transmission_blocks && !p.link_blocks)) {
    return {fmt::format("{}: its source gives no formula", task.name)};
  }
  const double blocks = p.link_blocks.value_or(p.transmission_blocks.value_or(0));
  lines.push_back(
      fmt::format("{} on {}, blocks of {} B:", task.name, topology.name(), task.block_bytes));
  std::string formula = fmt::format("  ts x {:g} + tw x m x {:g}", *p.startups, blocks);
  std::string numbers = fmt::format("  {:g} x {:g} + {:g} x {:g} x {:g}", cost.startup_us,
                                    *p.startups, cost.transfer_us, m, blocks);
  std::string parts =
      fmt::format("  {:g} + {:g}", cost.startup_us * *p.startups, cost.transfer_us * m * blocks);
  const auto add = [&](const char* name, double us, const std::optional<double>& count) {
    if (!count || *count == 0) return;
    formula += fmt::format(" + {} x m x {:g}", name, *count);
    numbers += fmt::format(" + {:g} x {:g} x {:g}", us, m, *count);
    parts += fmt::format(" + {:g}", us * m * *count);
  };
  add("tr", cost.rearrange_us, p.rearranged_blocks);
  add("tc", cost.combine_us, p.combined_blocks);
  lines.push_back(formula);
  lines.push_back(numbers);
  lines.push_back(parts + fmt::format(" = {:g} us", predicted_us(p, cost, task.block_bytes)));
  if (p.link_blocks && p.link_blocks != p.transmission_blocks) {
    lines.emplace_back("  (links are shared: blocks count times the load of their busiest link)");
  }
  lines.push_back(fmt::format("  source: {}", task.collective->algorithm->source));
  return lines;
}

}  // namespace wormcube::cli
