// Drawing a step: messages and link loads, in five forms.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/draw.hpp"

#include "wormcube/runtime/error.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numbers>
#include <set>
#include <utility>

#include <fmt/core.h>
#include <fmt/format.h>

namespace wormcube {

namespace {

using Row = std::vector<std::string>;

/// Columns aligned right, the last `text_columns` left; lines longer than `most` are cut.
std::string aligned(const Row& heads, const std::vector<Row>& rows, std::size_t text_columns,
                    std::size_t most) {
  std::vector<std::size_t> widths(heads.size());
  for (std::size_t c = 0; c < heads.size(); ++c) {
    widths[c] = heads[c].size();
    for (const Row& row : rows) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  const auto add = [&](std::string_view mark, const Row& row) {
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
  for (const Row& row : rows) add("  ", row);
  return text;
}

std::string blocks_text(Bytes bytes, Bytes block_bytes) {
  return bytes % block_bytes == 0
             ? fmt::to_string(bytes / block_bytes)
             : fmt::format("{:.4g}", static_cast<double>(bytes) / static_cast<double>(block_bytes));
}

/// Every link's messages, for the labels of pictures.
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

constexpr Rank most_drawn_nodes = 1024;
// More idle cables than this would hide the messages.
constexpr Link most_idle_links = 8192;

struct Point {
  double x = 0, y = 0;
};

/// Where the nodes stand, in units of the distance of neighbours.
class Places {
 public:
  explicit Places(const Topology& topology)
      : topology_(topology), unit_(static_cast<std::size_t>(topology.dimensions())) {
    // Dimensions from the last one: right, down, right, ..; each beyond the first two takes steps
    // as wide as all before it.
    double right = 1, down = 1;
    for (int d = topology.dimensions() - 1, turn = 0; d >= 0; --d, ++turn) {
      double& extent = turn % 2 == 0 ? right : down;
      unit_[static_cast<std::size_t>(d)] = turn % 2 == 0 ? Point{extent, 0} : Point{0, extent};
      extent = extent * topology.size(d) + 0.6;
    }
    circle_ = topology.dimensions() == 1 && topology.nodes() > 2 &&
              topology.factor(0).shape() != Shape::line;
  }

  Point operator()(Rank rank) const {
    if (circle_) {
      const double nodes = topology_.nodes();
      const double radius = std::max(1.0, nodes / (2 * std::numbers::pi));
      const double angle = 2 * std::numbers::pi * rank / nodes;
      return {radius + radius * std::sin(angle), radius - radius * std::cos(angle)};
    }
    Point point;
    for (int d = 0; d < topology_.dimensions(); ++d) {
      const double at = topology_.coordinate(rank, d);
      point.x += at * unit_[static_cast<std::size_t>(d)].x;
      point.y += at * unit_[static_cast<std::size_t>(d)].y;
    }
    return point;
  }

 private:
  const Topology& topology_;
  std::vector<Point> unit_;
  bool circle_ = false;
};

bool has_switches(const Topology& topology) {
  for (int d = 0; d < topology.dimensions(); ++d) {
    if (topology.factor(d).vertices() > topology.factor(d).nodes()) return true;
  }
  return false;
}

/// Text between tags.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

/// Text between double quotes.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

/// One link of a picture: a line beside the one that joins the nodes, on its right as it goes, so
/// that both directions are seen. A link that passes other nodes (round a ring) bends around them.
std::string arc(Point from, Point to, double side) {
  const double dx = to.x - from.x, dy = to.y - from.y, length = std::hypot(dx, dy);
  const Point along{dx / length, dy / length}, right{-along.y, along.x};
  constexpr double node_radius = 20;
  const Point begin{from.x + along.x * node_radius + right.x * side,
                    from.y + along.y * node_radius + right.y * side};
  const Point end{to.x - along.x * (node_radius + 6) + right.x * side,
                  to.y - along.y * (node_radius + 6) + right.y * side};
  constexpr double neighbours = 120;
  const double bend = length > neighbours ? 0.25 * length : 0;
  const Point middle{(begin.x + end.x) / 2 + right.x * bend,
                     (begin.y + end.y) / 2 + right.y * bend};
  return fmt::format("M{:.1f} {:.1f} Q{:.1f} {:.1f} {:.1f} {:.1f}", begin.x, begin.y, middle.x,
                     middle.y, end.x, end.y);
}

}  // namespace

int DrawnStep::busiest() const {
  int most = 0;
  for (const LinkLoad& link : links) most = std::max(most, link.messages);
  return most;
}

DrawnStep DrawnStep::of_node(Rank node) const {
  DrawnStep own{step, {}, links};
  std::ranges::copy_if(messages, std::back_inserter(own.messages),
                       [&](const DrawnMessage& m) { return m.from == node || m.to == node; });
  return own;
}

DrawnStep draw(const Schedule& schedule, const Routing& routing, std::size_t step) {
  if (!(schedule.topology == routing.topology())) {
    throw UsageError(fmt::format("draw: the schedule is for {}, the routing for {}",
                                 schedule.topology.name(), routing.topology().name()));
  }
  if (step >= schedule.steps()) {
    throw UsageError(
        fmt::format("step {}: the schedule has {} steps, numbered from 0", step, schedule.steps()));
  }
  DrawnStep drawn{step, {}, {}};
  std::map<Link, LinkLoad> loads;
  for (Rank rank = 0; rank < static_cast<Rank>(schedule.ranks.size()); ++rank) {
    for (const OpRecord& op : schedule.ops(rank, step)) {
      if (op.kind != Op::Kind::send) continue;
      const auto moves = schedule.moves(rank, op);
      DrawnMessage message{rank, op.peer, op.bytes, op.tag, {moves.begin(), moves.end()}, {}};
      if (moves.empty()) {
        routing.route(rank, op.peer, message.route);
      } else {
        routing.route(rank, moves, message.route);
      }
      for (const Channel channel : message.route) {
        const Link link = routing.link(channel);
        LinkLoad& load = loads.try_emplace(link, LinkLoad{link}).first->second;
        ++load.messages;
        load.bytes += op.bytes;
      }
      drawn.messages.push_back(std::move(message));
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

std::string draw_table(const DrawnStep& step, const Routing& routing, const DrawOptions& options) {
  const bool blocks = options.block_bytes > 0;
  std::string text;
  text += fmt::format("# step {}: {} message{}", step.step, step.messages.size(),
                      step.messages.size() == 1 ? "" : "s");
  if (!step.links.empty()) {
    const auto busiest = std::ranges::max_element(step.links, {}, &LinkLoad::messages);
    text += fmt::format("; busiest link {} carries {}", routing.topology().link_name(busiest->link),
                        busiest->messages);
  }
  text += '\n';
  Row heads{"from", "to", "bytes"};
  if (blocks) heads.emplace_back("blocks");
  heads.insert(heads.end(), {"tag", "load", "moves", "route"});
  std::vector<Row> rows;
  for (const DrawnMessage& message : step.messages) {
    Row row{fmt::to_string(message.from), fmt::to_string(message.to),
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

std::string draw_csv(const DrawnStep& step, const Routing& routing, const DrawOptions& options) {
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
  if (topology.nodes() <= most_drawn_nodes) return;
  throw UsageError(fmt::format(
      "{}: {} nodes; a picture has up to {}; use the table (--node shows one node) or --csv",
      topology.name(), topology.nodes(), most_drawn_nodes));
}

void require_svg(const Topology& topology) {
  if (has_switches(topology)) {
    throw UsageError(
        fmt::format("{}: switches have no place in a picture; use --dot, and let Graphviz "
                    "arrange them",
                    topology.name()));
  }
  require_dot(topology);
}

std::string draw_dot(const DrawnStep& step, const Routing& routing) {
  const Topology& topology = routing.topology();
  require_dot(topology);
  const auto of_links = messages_of_links(step, routing);
  const bool idle = topology.links() <= most_idle_links;
  const bool switches = has_switches(topology);
  std::string text = fmt::format(
      "digraph {} {{\n  label={};\n  node [shape=circle fontname=Helvetica];\n"
      "  edge [fontname=Helvetica fontsize=10];\n",
      quoted(topology.name()), quoted(fmt::format("{}, step {}", topology.name(), step.step)));
  const Places place(topology);
  for (Rank rank = 0; rank < topology.nodes(); ++rank) {
    const Point at = place(rank);
    text += switches ? fmt::format("  \"{}\";\n", rank)
                     : fmt::format("  \"{}\" [pos=\"{:.0f},{:.0f}!\"];\n", rank, 100 * at.x,
                                   -100 * at.y);
  }
  const auto ends = [&](Link link) {
    const std::string name = topology.link_name(link);
    const std::size_t arrow = name.find("->");
    return std::pair(name.substr(0, arrow), name.substr(arrow + 2));
  };
  std::set<std::pair<std::string, std::string>> drawn;  // cables, one way
  for (const auto& [link, messages] : of_links) drawn.insert(ends(link));
  // One line per cable that is idle both ways, one per busy link.
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

std::string draw_svg(const DrawnStep& step, const Routing& routing) {
  const Topology& topology = routing.topology();
  require_svg(topology);
  constexpr double distance = 100, margin = 80;
  const Places place(topology);
  const auto at = [&](Rank rank) {
    const Point point = place(rank);
    return Point{margin + distance * point.x, margin + distance * point.y};
  };
  Point corner;
  for (Rank rank = 0; rank < topology.nodes(); ++rank) {
    corner.x = std::max(corner.x, at(rank).x);
    corner.y = std::max(corner.y, at(rank).y);
  }
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\" font-family=\"Helvetica, sans-serif\">\n"
      "<title>{2}, step {3}</title>\n"
      "<defs>\n",
      corner.x + margin, corner.y + margin, escaped(topology.name()), step.step);
  for (const auto& [id, colour] : {std::pair{"one", "steelblue"}, std::pair{"more", "crimson"}}) {
    text += fmt::format(
        "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"4\" refY=\"4\" markerWidth=\"4\" "
        "markerHeight=\"4\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"{}\"/></marker>\n",
        id, colour);
  }
  text += "</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  const auto of_links = messages_of_links(step, routing);
  std::string arrows;
  for (Link link = 0; link < topology.links(); ++link) {
    const Graph::Ends ends = topology.link_ends(link);
    const Point from = at(ends.from), to = at(ends.to);
    const auto busy = of_links.find(link);
    if (busy == of_links.end()) {
      if (topology.links() > most_idle_links) continue;
      text += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"#ddd\"/>\n", arc(from, to, 5));
      continue;
    }
    const bool shared = busy->second.size() > 1;
    arrows += fmt::format(
        "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" "
        "marker-end=\"url(#{})\"><title>link {}, {} message{}\n{}</title></path>\n",
        arc(from, to, 5), shared ? "crimson" : "steelblue", shared ? 4 : 2.5,
        shared ? "more" : "one", escaped(topology.link_name(link)), busy->second.size(),
        shared ? "s" : "", messages_text(busy->second, "\n"));
  }
  text += arrows;
  for (Rank rank = 0; rank < topology.nodes(); ++rank) {
    const Point point = at(rank);
    text += fmt::format(
        "<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"17\" fill=\"white\" stroke=\"#555\"/>"
        "<text x=\"{0:.1f}\" y=\"{1:.1f}\" dy=\"5\" font-size=\"14\" "
        "text-anchor=\"middle\">{2}</text>\n",
        point.x, point.y, rank);
  }
  return text + "</svg>\n";
}

}  // namespace wormcube
