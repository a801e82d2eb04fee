// A step as text: messages and link loads, as table, CSV and graph.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/step.hpp"

#include "wormcube/apps/draw/layout.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/core.h>
#include <fmt/format.h>

namespace wormcube::apps {

namespace {

using TextRow = std::vector<std::string>;

/// Aligns columns right, the last `text_columns` left, and cuts lines longer than `most`.
std::string aligned(const TextRow& heads, const std::vector<TextRow>& rows,
                    std::size_t text_columns, std::size_t most) {
  std::vector<std::size_t> widths(heads.size());
  for (std::size_t c = 0; c < heads.size(); ++c) {
    widths[c] = heads[c].size();
    for (const TextRow& row : rows) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  const auto add = [&](std::string_view mark, const TextRow& row) {
    std::string line(mark);
    for (std::size_t c = 0; c < row.size(); ++c) {
      const bool left = c + text_columns >= row.size();
      line += left ? fmt::format("{}{:<{}}", c > 0 ? "  " : "", row[c], widths[c])
                   : fmt::format("{}{:>{}}", c > 0 ? "  " : "", row[c], widths[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    if (most > 0 && line.size() > most) {
      line.erase(line.find_last_of(' ', most - 2) + 1);  // between two links
      line += "..";
    }
    text += line + '\n';
  };
  add("# ", heads);
  for (const TextRow& row : rows) add("  ", row);
  return text;
}

std::string blocks_text(Bytes bytes, Bytes block_bytes) {
  return bytes % block_bytes == 0
             ? fmt::to_string(bytes / block_bytes)
             : fmt::format("{:.4g}", static_cast<double>(bytes) / static_cast<double>(block_bytes));
}

/// Every link's messages, for labels of pictures.
std::map<Link, std::vector<const DrawnMessage*>> messages_of_links(const DrawnStep& step,
                                                                   const Routing& routing) {
  std::map<Link, std::vector<const DrawnMessage*>> of;
  for (const DrawnMessage& message : step.messages) {
    for (const Channel channel : message.route) of[routing.link(channel)].push_back(&message);
  }
  return of;
}

std::string messages_text(const std::vector<const DrawnMessage*>& messages,
                          std::string_view separator) {
  std::string text;
  for (const DrawnMessage* message : messages) {
    if (!text.empty()) text += separator;
    text += fmt::format("{} to {}: {} B", message->from, message->to, message->bytes);
  }
  return text;
}

constexpr Rank most_dot_nodes = 1024;
// More idle cables than this would hide the messages.
constexpr Link most_idle_links = 8192;

/// Text in double quotes.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

int DrawnStep::busiest() const {
  int most = 0;
  for (const LinkLoad& link : links) most = std::max(most, link.messages);
  return most;
}

DrawnStep DrawnStep::of_node(Rank node) const {
  DrawnStep own{step, phase, {}, links};
  std::ranges::copy_if(messages, std::back_inserter(own.messages),
                       [&](const DrawnMessage& m) { return m.from == node || m.to == node; });
  return own;
}

std::vector<DrawnMessage> messages_of(const Schedule& schedule, const Routing& routing,
                                      std::size_t step) {
  std::vector<DrawnMessage> messages;
  for (Rank rank = 0; rank < static_cast<Rank>(schedule.ranks.size()); ++rank) {
    for (const OpRecord& op : schedule.ops(rank, step)) {
      if (op.kind != Op::Kind::send) continue;
      const auto moves = schedule.moves(rank, op);
      DrawnMessage& message = messages.emplace_back(
          DrawnMessage{rank, op.peer, op.bytes, op.tag, {moves.begin(), moves.end()}});
      if (moves.empty()) {
        routing.route(rank, op.peer, message.route);
      } else {
        routing.route(rank, moves, message.route);
      }
    }
  }
  return messages;
}

std::string_view phase_of(const Schedule& schedule, std::size_t step) {
  std::string_view name;
  for (const Phase& phase : schedule.phases) {
    if (phase.first <= step && step <= phase.last) name = phase.name;
  }
  return name;
}

DrawnStep drawn_step(const Schedule& schedule, const Routing& routing, std::size_t step) {
  if (!(schedule.topology == routing.topology())) {
    throw UsageError(fmt::format("the schedule is for {}, the routing for {}",
                                 schedule.topology.name(), routing.topology().name()));
  }
  if (step >= schedule.steps()) {
    throw UsageError(
        fmt::format("step {}: the schedule has {} steps, numbered from 0", step, schedule.steps()));
  }
  DrawnStep drawn{step, std::string(phase_of(schedule, step)),
                  messages_of(schedule, routing, step)};
  std::map<Link, LinkLoad> loads;
  for (const DrawnMessage& message : drawn.messages) {
    for (const Channel channel : message.route) {
      const Link link = routing.link(channel);
      LinkLoad& load = loads.try_emplace(link, LinkLoad{link}).first->second;
      ++load.messages;
      load.bytes += message.bytes;
    }
  }
  for (DrawnMessage& message : drawn.messages) {
    for (const Channel channel : message.route) {
      message.load = std::max(message.load, loads.at(routing.link(channel)).messages);
    }
  }
  for (const auto& [link, load] : loads) drawn.links.push_back(load);
  return drawn;
}

std::string moves_text(std::span<const Move> moves) {
  std::string text;
  for (const Move move : moves)
    text += fmt::format("{}{}{:+}", text.empty() ? "" : " ", move.dimension, move.hops);
  return text;
}

std::string route_text(const Routing& routing, std::span<const Channel> route) {
  std::string text;
  for (const Channel channel : route) {
    text += (text.empty() ? "" : ", ") + routing.channel_name(channel);
  }
  return text;
}

std::string step_table(const DrawnStep& step, const Routing& routing,
                       const StepTextOptions& options) {
  const bool blocks = options.block_bytes > 0;
  std::string text;
  text += fmt::format("# step {}{}{}: {} message{}", step.step, step.phase.empty() ? "" : ", ",
                      step.phase, step.messages.size(), step.messages.size() == 1 ? "" : "s");
  if (!step.links.empty()) {
    const auto busiest = std::ranges::max_element(step.links, {}, &LinkLoad::messages);
    text += fmt::format("; busiest link {} carries {}", routing.topology().link_name(busiest->link),
                        busiest->messages);
  }
  text += '\n';
  TextRow heads{"from", "to", "bytes"};
  if (blocks) heads.emplace_back("blocks");
  heads.insert(heads.end(), {"tag", "load", "moves", "route"});
  std::vector<TextRow> rows;
  for (const DrawnMessage& message : step.messages) {
    TextRow row{fmt::to_string(message.from), fmt::to_string(message.to),
                fmt::to_string(message.bytes)};
    if (blocks) row.push_back(blocks_text(message.bytes, options.block_bytes));
    row.insert(row.end(), {fmt::to_string(message.tag), fmt::to_string(message.load),
                           message.moves.empty() ? "-" : moves_text(message.moves),
                           message.route.empty() ? "-" : route_text(routing, message.route)});
    rows.push_back(std::move(row));
  }
  if (!rows.empty()) text += aligned(heads, rows, 2, options.width);
  if (!options.links || step.links.empty()) return text;
  rows.clear();
  for (const LinkLoad& load : step.links) {
    rows.push_back({fmt::to_string(load.messages), fmt::to_string(load.bytes),
                    routing.topology().link_name(load.link)});
  }
  return text + aligned({"messages", "bytes", "link"}, rows, 1, options.width);
}

std::string step_csv(const DrawnStep& step, const Routing& routing,
                     const StepTextOptions& options) {
  const bool blocks = options.block_bytes > 0;
  std::string text;
  if (options.heads) {
    text = fmt::format("step,from,to,bytes{},tag,moves,hops,load,route\n", blocks ? ",blocks" : "");
  }
  for (const DrawnMessage& message : step.messages) {
    text += fmt::format("{},{},{},{}{},{},{},{},{},", step.step, message.from, message.to,
                        message.bytes,
                        blocks ? "," + blocks_text(message.bytes, options.block_bytes) : "",
                        message.tag, moves_text(message.moves), message.route.size(), message.load);
    const std::string route = route_text(routing, message.route);
    text += (route.find(',') == route.npos ? route : '"' + route + '"') + '\n';
  }
  return text;
}

void require_dot(const Topology& topology) {
  if (topology.nodes() > most_dot_nodes) {
    throw UsageError(fmt::format(
        "{}: {} nodes, the limit for Graphviz is {}; use the table (--node shows one node) or "
        "--csv",
        topology.name(), topology.nodes(), most_dot_nodes));
  }
  require_drawable(topology);
}

std::string step_dot(const DrawnStep& step, const Routing& routing) {
  const Topology& topology = routing.topology();
  require_dot(topology);
  const auto of_links = messages_of_links(step, routing);
  const bool idle = topology.links() <= most_idle_links;
  std::string text = fmt::format(
      "digraph {} {{\n  label={};\n  node [shape=circle fontname=Helvetica];\n"
      "  edge [fontname=Helvetica fontsize=10];\n",
      quoted(topology.name()), quoted(fmt::format("{}, step {}", topology.name(), step.step)));
  const Layout places = layout(routing);
  // Neighbours are 1.4 inches apart to leave room for labels.
  const double scale = 100 / places.pitch;
  for (std::size_t v = 0; v < places.places.size(); ++v) {
    const bool is_switch = v >= static_cast<std::size_t>(places.nodes);
    text += fmt::format("  {} [pos=\"{:.0f},{:.0f}!\"{}];\n",
                        quoted(is_switch ? places.names[v] : fmt::to_string(v)),
                        scale * places.places[v].x, -scale * places.places[v].y,
                        is_switch ? " shape=point" : "");
  }
  const auto ends = [&](Link link) {
    const std::string name = topology.link_name(link);
    const std::size_t arrow = name.find("->");
    return std::pair(name.substr(0, arrow), name.substr(arrow + 2));
  };
  std::set<std::pair<std::string, std::string>> drawn;  // cables, one direction
  for (const auto& [link, messages] : of_links) drawn.insert(ends(link));
  // One line per cable that is idle in both directions, one per busy link.
  for (Link link = 0; link < topology.links(); ++link) {
    const auto busy = of_links.find(link);
    if (busy == of_links.end() && !idle) continue;
    const auto [from, to] = ends(link);
    if (busy == of_links.end()) {
      if (drawn.contains({to, from}) || !drawn.emplace(from, to).second) continue;
      text += fmt::format("  {} -> {} [dir=none color=gray85];\n", quoted(from), quoted(to));
      continue;
    }
    // "\n" must reach Graphviz as it is, so the label is not quoted again.
    text += fmt::format("  {} -> {} [label=\"{}\" color={}];\n", quoted(from), quoted(to),
                        messages_text(busy->second, "\\n"),
                        busy->second.size() > 1 ? "red" : "steelblue");
  }
  return text + "}\n";
}

}  // namespace wormcube::apps
