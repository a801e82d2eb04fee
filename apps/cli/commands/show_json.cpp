// The JSON of wormcube show: the steps with their messages and links.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/show_json.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace wormcube::cli {

namespace {

Json message_json(const apps::DrawnMessage& message, const Routing& routing,
                  const apps::DrawnStep& step, Bytes block_bytes) {
  Json route = Json::array();
  for (const Channel channel : message.route) {
    const Link link = routing.link(channel);
    const auto load = std::ranges::lower_bound(step.links, link, {}, &apps::LinkLoad::link);
    route.push_back({{"link", link},
                     {"link_name", routing.topology().link_name(link)},
                     {"virtual_channel", routing.virtual_channel(channel)},
                     {"load", load->messages}});
  }
  Json moves = Json::array();
  for (const Move move : message.moves)
    moves.push_back({{"dimension", move.dimension}, {"hops", move.hops}});
  Json json{{"from", message.from}, {"to", message.to}, {"bytes", message.bytes}};
  const double blocks =
      block_bytes > 0 ? static_cast<double>(message.bytes) / static_cast<double>(block_bytes) : 0;
  put(json, "blocks", block_bytes > 0 ? json_value(blocks) : Json(nullptr),
      "blocks of this operation have no common size");
  json["tag"] = message.tag;
  json["moves"] = std::move(moves);
  json["load"] = message.load;
  json["route"] = std::move(route);
  return json;
}

}  // namespace

Json step_json(const apps::DrawnStep& step, const apps::DrawnStep& shown, const Routing& routing,
               Bytes block_bytes) {
  Json messages = Json::array(), links = Json::array();
  for (const apps::DrawnMessage& message : shown.messages)
    messages.push_back(message_json(message, routing, step, block_bytes));
  for (const apps::LinkLoad& load : step.links) {
    links.push_back({{"link", load.link},
                     {"link_name", routing.topology().link_name(load.link)},
                     {"messages", load.messages},
                     {"bytes", load.bytes}});
  }
  Json json{{"step", step.step}};
  put(json, "phase", step.phase.empty() ? Json(nullptr) : Json(step.phase), "it has no name");
  json["link_load_max"] = step.busiest();
  json["messages"] = std::move(messages);
  json["links"] = std::move(links);
  return json;
}

double json_bytes(const Schedule& schedule, const Routing& routing) {
  constexpr double message_bytes = 1500, hop_bytes = 600;
  double bytes = 0;
  std::vector<Channel> route;
  for (Rank rank = 0; rank < schedule.topology.nodes(); ++rank) {
    for (std::size_t step = 0; step < schedule.steps(); ++step) {
      for (const OpRecord& op : schedule.ops(rank, step)) {
        if (op.kind != Op::Kind::send) continue;
        route.clear();
        routing.route(rank, op.peer, route);
        bytes += message_bytes + hop_bytes * static_cast<double>(route.size());
      }
    }
  }
  return bytes;
}

}  // namespace wormcube::cli
