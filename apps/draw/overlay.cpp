// Sets of nodes, cells and labels over a step's picture.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/overlay.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace wormcube::apps {

namespace {

struct Box {
  Point least{1e30, 1e30}, most{-1e30, -1e30};

  void cover(Point p) {
    least = {std::min(least.x, p.x), std::min(least.y, p.y)};
    most = {std::max(most.x, p.x), std::max(most.y, p.y)};
  }
  bool holds(Point p) const {
    return least.x <= p.x && p.x <= most.x && least.y <= p.y && p.y <= most.y;
  }
};

/// How a set's nodes are marked. The colours of the first dimensions come late; beyond six sets they
/// come again, dashed.
struct SetLook {
  Colour colour;
  std::vector<double> dash;
};
SetLook look_of(std::size_t set) {
  constexpr std::array<std::size_t, 6> order{1, 3, 4, 2, 5, 0};
  SetLook look{colours::line(order[set % order.size()]), {}};
  if (set >= order.size()) look.dash = {4, 2};
  return look;
}

bool is_cell_frame(const Layout& layout, const NodeSets& sets, Rank cell, const Box& box) {
  for (Rank r = 0; r < layout.nodes; ++r) {
    const auto i = static_cast<std::size_t>(r);
    if (sets.cell_of[i] != cell && box.holds(layout.places[i])) return false;
  }
  return true;
}

}  // namespace

std::vector<CellFrame> cell_frames(const Layout& layout, const NodeSets& sets) {
  std::vector<CellFrame> frames;
  std::map<Rank, Box> cells;
  for (std::size_t i = 0; i < sets.cell_of.size(); ++i) {
    cells[sets.cell_of[i]].cover(layout.places[i]);
  }
  for (const auto& [cell, box] : cells) {
    if (!is_cell_frame(layout, sets, cell, box)) continue;
    const double room = 1.55 * layout.radius;
    frames.push_back(
        {box.least - Point{room, room}, box.most - box.least + Point{2 * room, 2 * room}});
  }
  return frames;
}

Marks overlay_marks(const Layout& layout, const NodeSets& sets) {
  Marks marks;
  for (const CellFrame& frame : cell_frames(layout, sets)) {
    marks.push_back(rect_mark(frame.corner, frame.size, layout.radius, {}, colours::mute, 1.2));
    marks.back().dash = {5, 4};
    marks.back().data = " class=\"cell\"";
  }
  const double edge = std::min(3.0, 0.25 * layout.radius), r = layout.radius + 0.5 * edge + 0.8;
  for (std::size_t i = 0; i < sets.set_of.size(); ++i) {
    if (sets.set_of[i] < 0) continue;
    const SetLook look = look_of(static_cast<std::size_t>(sets.set_of[i]));
    marks.push_back(
        rect_mark(layout.places[i] - Point{r, r}, {2 * r, 2 * r}, 0.5 * r, {}, look.colour, edge));
    marks.back().dash = look.dash;
    marks.back().data = " class=\"set\"";
  }
  return marks;
}

std::vector<LegendEntry> overlay_legend(const NodeSets& sets) {
  std::vector<LegendEntry> entries;
  for (std::size_t set = 0; set < sets.names.size(); ++set) {
    const SetLook look = look_of(set);
    entries.push_back({sets.names[set], {look.colour}, look.dash});
  }
  if (!sets.cell_of.empty()) entries.push_back({"cell", {colours::mute}, {5, 4}});
  return entries;
}

namespace {

constexpr double label_font = 8, line_height = 9.2;

/// Cuts the lines to this number; then the last one says that there are more.
std::vector<std::string> cut(std::vector<std::string> lines, std::size_t most) {
  if (lines.size() > most) {
    lines.resize(std::max<std::size_t>(1, most));
    lines.back() += " ..";
  }
  return lines;
}

/// Where a label on a worm lies: on its first link, nearer to the sender, so that the labels of two
/// nodes that exchange lie apart.
Point label_place(const DrawnMessage& message, const Layout& layout, const Routing& routing) {
  const Link link = routing.link(message.route.front());
  const std::vector<Point>& points = layout.lanes[static_cast<std::size_t>(link)].points;
  if (points.size() < 2) return points.empty() ? Point{} : points.front();
  const std::size_t i = (points.size() - 1) / 2;
  return points[i] + 0.27 * (points[i + 1] - points[i]);
}

/// Lines of text around a point, on a ground that hides what is below.
void add_label(const std::vector<std::string>& lines, Point at, Colour colour, Marks& marks) {
  double width = 0;
  for (const std::string& line : lines) width = std::max(width, text_room(line, label_font, false));
  const double height = line_height * static_cast<double>(lines.size());
  marks.push_back(
      rect_mark(at - Point{width / 2 + 1, height / 2}, {width + 2, height}, 2, colours::bg));
  marks.back().opacity = 0.85;
  double y = at.y - height / 2 + 0.8 * line_height;
  for (const std::string& line : lines) {
    marks.push_back(text_mark({at.x, y}, line, label_font, colour, 0));
    marks.back().data = " class=\"label\"";
    y += line_height;
  }
}

}  // namespace

Marks labelled(Marks picture, const Layout& layout, const Routing& routing, const DrawnStep& step,
               const std::vector<std::string>& nodes) {
  double longest = 0, longest_message = 0;
  for (const std::string& label : nodes) {
    longest = std::max(longest, text_room(label, label_font, false));
  }
  for (const DrawnMessage& message : step.messages) {
    longest_message = std::max(longest_message, text_room(message.label, label_font, false));
  }
  // A node's label has the width between nodes; a message's has half of the link.
  const double between = layout.pitch - 2 * layout.radius;
  const auto width = [&](double scale) { return 0.92 * scale * layout.pitch; };
  const auto message_width = [&](double scale) { return std::max(30.0, 0.5 * scale * between); };
  const auto lines = [&](double scale, double share) {
    return std::max<std::size_t>(1,
                                 static_cast<std::size_t>(share * scale * between / line_height));
  };
  const auto fits = [&](double scale) {
    const auto room = [](double lines_wanted, std::size_t most) {
      return std::ceil(1.15 * lines_wanted) <= static_cast<double>(most);
    };
    return room(longest / width(scale), lines(scale, 0.8)) &&
           room(longest_message / message_width(scale), lines(scale, 0.45));
  };
  double scale = 1.25;
  while (scale < 4 && !fits(scale)) scale += 0.25;
  Marks marks = moved(std::move(picture), {0, 0}, scale);
  for (const DrawnMessage& message : step.messages) {
    if (message.label.empty() || message.route.empty()) continue;
    const Lane& lane = layout.lanes[static_cast<std::size_t>(routing.link(message.route.front()))];
    add_label(cut(wrapped(message.label, label_font, message_width(scale)), lines(scale, 0.45)),
              scale * label_place(message, layout, routing), colours::dimension(lane.dimension),
              marks);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].empty()) continue;
    const std::vector<std::string> text =
        cut(wrapped(nodes[i], label_font, width(scale)), lines(scale, 0.8));
    const double height = line_height * static_cast<double>(text.size());
    add_label(text, scale * (layout.places[i] + Point{0, layout.radius}) + Point{0, 3 + height / 2},
              colours::ink, marks);
  }
  return marks;
}

}  // namespace wormcube::apps
