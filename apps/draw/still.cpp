// Steps as marks; sheets of small multiples.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/still.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace wormcube::apps {

namespace {

using Pieces = std::vector<std::vector<Point>>;

/// A lane's points, shifted to the right: two pieces if it has a gap.
Pieces lane_pieces(const Lane& lane, double shift = 0) {
  Pieces pieces;
  const std::size_t n = lane.points.size();
  for (std::size_t i = 0; i + 1 < n; ++i) {
    if (lane.gap != 0 && i + 1 == lane.gap) continue;
    const Point a = lane.points[i], b = lane.points[i + 1];
    const double l = std::hypot(b.x - a.x, b.y - a.y);
    if (l == 0) continue;
    const Point aside{-shift * (b.y - a.y) / l, shift * (b.x - a.x) / l};
    if (i == 0 || (lane.gap != 0 && i == lane.gap)) pieces.emplace_back().push_back(a + aside);
    if (pieces.empty()) pieces.emplace_back().push_back(a + aside);
    pieces.back().push_back(b + aside);
  }
  return pieces;
}

double lane_length(const Lane& lane) {
  double length = 0;
  for (std::size_t i = 0; i + 1 < lane.points.size(); ++i) {
    if (lane.gap != 0 && i + 1 == lane.gap) continue;
    length += std::hypot(lane.points[i + 1].x - lane.points[i].x,
                         lane.points[i + 1].y - lane.points[i].y);
  }
  return length;
}

/// A point shortly before the middle of a lane, so that the discs of a cable's two lanes lie apart.
/// For a lane with a gap, the point is on its first stub.
Point lane_middle(const Lane& lane) {
  double left = lane_length(lane) * (lane.gap > 0 ? 0.25 : 0.4);
  for (std::size_t i = 0; i + 1 < lane.points.size(); ++i) {
    if (lane.gap != 0 && i + 1 == lane.gap) continue;
    const Point a = lane.points[i], b = lane.points[i + 1];
    const double l = std::hypot(b.x - a.x, b.y - a.y);
    if (left <= l && l > 0) return a + left / l * (b - a);
    left -= l;
  }
  return lane.points.empty() ? Point{} : lane.points.back();
}

double strand_width(int load) { return std::clamp(3.4 / load, 0.7, 1.4); }
double strand_gap(int load) { return std::min(3.4, 7.0 / load); }

/// Frames, labels and idle links.
void draw_ground(const Layout& layout, Marks& marks) {
  for (const Frame& frame : layout.frames) {
    marks.push_back(rect_mark(frame.corner, frame.size, 12, colours::panel, colours::faint));
    marks.push_back(
        text_mark(frame.corner + Point{12, 17}, frame.caption, 11, colours::mute, -1, true));
  }
  for (const Label& label : layout.labels) {
    marks.push_back(text_mark(label.at, label.text, label.size, colours::mute, 0));
  }
  const bool crowded = std::ranges::count_if(layout.lanes, &Lane::thin) > 240;
  Pieces wide, thin;
  std::map<int, Pieces> ticks;  // by dimension
  for (const Lane& lane : layout.lanes) {
    if (lane.thin && crowded) continue;
    Pieces& pieces = lane.tick ? ticks[lane.dimension] : lane.thin ? thin : wide;
    for (auto& piece : lane_pieces(lane)) pieces.push_back(std::move(piece));
  }
  const auto draw = [&](Pieces& pieces, Colour colour, double width, double opacity) {
    if (pieces.empty()) return;
    marks.push_back(path_mark(std::move(pieces), colour, width));
    marks.back().round = true, marks.back().opacity = opacity;
    marks.back().data = " class=\"lanes\"";
  };
  draw(wide, colours::load(0), layout.lane, 1);
  draw(thin, colours::load(0), 1.4, 1);
  for (auto& [dimension, pieces] : ticks) {
    draw(pieces, colours::dimension(dimension), layout.lane, 0.45);
  }
}

void draw_bar(Point node, double r, double share, std::size_t v, Marks& marks) {
  const Point corner{node.x - r + 4.5, node.y + r - 7.5};
  const double width = 2 * r - 9, height = 3;
  marks.push_back(rect_mark(corner, {width, height}, height / 2, colours::faint));
  if (share <= 0) return;
  marks.push_back(rect_mark(corner, {share * width, height}, height / 2, colours::ok));
  marks.back().data = fmt::format(" class=\"held\" data-of=\"{}\"", v);
}

/// Names, and below each the share of its result that the node has, if known.
void draw_nodes(const Layout& layout, const std::vector<bool>* busy,
                const std::vector<double>* held, Marks& marks) {
  const double r = layout.radius;
  for (std::size_t v = 0; v < layout.places.size(); ++v) {
    const Point p = layout.places[v];
    if (v >= static_cast<std::size_t>(layout.nodes)) {
      marks.push_back(circle_mark(p, 0.72 * r, colours::bg, colours::node_line, 1.3));
      continue;
    }
    const bool idle = busy != nullptr && !(*busy)[v];
    marks.push_back(rect_mark(p - Point{r, r}, {2 * r, 2 * r}, 0.45 * r,
                              idle ? colours::idle : colours::bg, colours::node_line,
                              std::min(1.3, 0.18 * r)));
    if (idle && !layout.large) marks.back().dash = {2.5, 2.5};
    marks.back().data = fmt::format(" data-node=\"{}\"", v);
    if (layout.number_size <= 0) continue;
    if (held != nullptr) draw_bar(p, r, (*held)[v], v, marks);
    // Two lines end above the bar.
    const double up = held == nullptr ? 0 : 1, lift = up * std::max(1.5, 15.9 - r);
    const std::string& name = layout.names[v];
    const Colour colour = idle ? colours::mute : colours::ink;
    if (const std::size_t end = name.find('\n'); end != name.npos) {
      marks.push_back(text_mark({p.x, p.y - 1.6 - lift}, name.substr(0, end), layout.number_size,
                                colour, 0, true));
      marks.push_back(text_mark({p.x, p.y + 7.6 - lift}, name.substr(end + 1), layout.number_size,
                                colour, 0, true));
    } else {
      marks.push_back(text_mark({p.x, p.y + 0.36 * layout.number_size - 3 * up}, name,
                                layout.number_size, colour, 0, true));
    }
  }
}

void draw_load_number(const Layout& layout, Point at, int load, Colour colour, Marks& marks) {
  if (layout.large) return;
  marks.push_back(circle_mark(at, 6.2, colour));
  marks.push_back(
      text_mark({at.x, at.y + 2.9}, std::to_string(load), 8.2, colours::white, 0, true));
  marks.back().data = " class=\"load\"";
}

/// The worms of one step.
class WormDrawer {
 public:
  WormDrawer(const Layout& layout, const Routing& routing, const DrawnStep& step, Bytes most_bytes,
             bool titles, Marks& marks)
      : layout_(layout),
        routing_(routing),
        most_bytes_(std::max<Bytes>(1, most_bytes)),
        titles_(titles),
        marks_(marks) {
    for (const LinkLoad& link : step.links) load_[link.link] = link.messages;
    constexpr int most_numbers = 256;
    for (const auto& [link, load] : load_) {
      if (load < 2) continue;
      marks.push_back(path_mark(lane_pieces(lane(link)), colours::load(load), 1.8 * layout.offset));
      marks.back().data = fmt::format(" class=\"band\" data-link=\"{}\"", link);
      if (titles) {
        marks.back().title =
            fmt::format("link {}: {} messages", routing.topology().link_name(link), load);
      }
    }
    std::map<Link, int> taken;
    for (const DrawnMessage& message : step.messages) draw(message, taken);
    int numbers = 0;
    for (const auto& [link, load] : load_) {
      if (load > 1 && ++numbers <= most_numbers) {
        numbers_.emplace_back(link, load);
      }
    }
  }
  void numbers() {
    for (const auto& [link, load] : numbers_) {
      draw_load_number(layout_, lane_middle(lane(link)), load, colours::load(load), marks_);
    }
  }

 private:
  struct Part {
    Pieces pieces;
    int dimension, channel;
    bool strand;
    double width;
  };
  const Lane& lane(Link link) const { return layout_.lanes[static_cast<std::size_t>(link)]; }

  void draw(const DrawnMessage& message, std::map<Link, int>& taken) {
    std::vector<Part> parts;
    // Where lanes are near each other, worms are narrower than their heads too.
    const double near = layout_.large ? 1 : std::min(1.0, layout_.offset / 5);
    const double width = near * (2.8 + 2.4 * std::sqrt(static_cast<double>(message.bytes) /
                                                       static_cast<double>(most_bytes_)));
    bool shared = false;
    for (const Channel channel : message.route)
      shared = shared || load_[routing_.link(channel)] > 1;
    const double scale = layout_.large ? 0.5 : 1,
                 free = scale * (shared ? std::min(2.6, width) : width);
    for (const Channel channel : message.route) {
      const Link link = routing_.link(channel);
      const int load = load_[link], vc = routing_.virtual_channel(channel),
                d = lane(link).dimension;
      const bool strand = load > 1;
      const double shift =
          strand ? scale * (taken[link]++ - (load - 1) / 2.0) * strand_gap(load) : 0;
      Pieces pieces = lane_pieces(lane(link), shift);
      if (!parts.empty() && parts.back().dimension == d && parts.back().channel == vc &&
          !parts.back().strand && !strand) {
        join(parts.back().pieces, std::move(pieces));
      } else {
        parts.push_back(
            {std::move(pieces), d, vc, strand, strand ? scale * strand_width(load) : free});
      }
    }
    if (parts.empty() || parts.back().pieces.empty()) return;
    // The body ends inside its arrow.
    Part& last = parts.back();
    std::vector<Point>& end = last.pieces.back();
    const Point tip = end.back(), before = end[end.size() - 2];
    const double l = std::max(1e-9, std::hypot(tip.x - before.x, tip.y - before.y));
    const Point to{(tip.x - before.x) / l, (tip.y - before.y) / l};
    end.back() = tip - std::min(4.0 * scale, l) * to;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Part& part = parts[i];
      const Colour colour = part.strand ? colours::bg : colours::dimension(part.dimension);
      marks_.push_back(path_mark(part.pieces, colour, part.width));
      if (part.channel == 1 && !part.strand) marks_.back().dash = {7 * scale, 3 * scale};
      marks_.back().data =
          fmt::format(" class=\"worm\" data-from=\"{}\" data-to=\"{}\"", message.from, message.to);
      if (titles_) {
        marks_.back().title = fmt::format("{} to {}: {} B, {}", message.from, message.to,
                                          message.bytes, route_text(routing_, message.route));
      }
    }
    // An arrow does not reach into the cable's other lane.
    const double size = last.strand ? 8 * scale : 1.25 * last.width + 3 * scale,
                 half = std::min(0.54 * size, layout_.offset - 0.3);
    const auto at = [&](double back, double side) {
      return Point{tip.x - back * to.x - side * to.y, tip.y - back * to.y + side * to.x};
    };
    Mark head = path_mark({{at(0, 0), at(size, half), at(0.7 * size, 0), at(size, -half)}}, {}, 0);
    head.closed = true, head.fill = last.strand ? colours::bg : colours::dimension(last.dimension);
    if (last.strand) {  // apart from the strands beside it
      head.stroke = colours::load(load_[routing_.link(message.route.back())]), head.width = scale;
    }
    head.data = " class=\"head\"";
    marks_.push_back(std::move(head));
    if (!parts.front().strand) {
      marks_.push_back(circle_mark(parts.front().pieces.front().front(), 0.62 * parts.front().width,
                                   colours::dimension(parts.front().dimension)));
    }
  }

  /// Joins consecutive pieces under a node into one line; gaps stay.
  static void join(Pieces& pieces, Pieces more) {
    for (std::size_t i = 0; i < more.size(); ++i) {
      const Point a = pieces.back().back(), b = more[i].front();
      if (i == 0 && std::hypot(a.x - b.x, a.y - b.y) < 46) {
        pieces.back().insert(pieces.back().end(), more[i].begin(), more[i].end());
      } else {
        pieces.push_back(std::move(more[i]));
      }
    }
  }

  const Layout& layout_;
  const Routing& routing_;
  Bytes most_bytes_;
  bool titles_;
  Marks& marks_;
  std::map<Link, int> load_;
  std::vector<std::pair<Link, int>> numbers_;
};

}  // namespace

Marks network_marks(const Layout& layout) {
  Marks marks;
  draw_ground(layout, marks);
  draw_nodes(layout, nullptr, nullptr, marks);
  return marks;
}

Marks step_marks(const Layout& layout, const Routing& routing, const DrawnStep& step,
                 Bytes most_bytes, bool titles, const std::vector<double>* held) {
  Marks marks;
  draw_ground(layout, marks);
  WormDrawer worms(layout, routing, step, most_bytes, titles, marks);
  std::vector<bool> busy(static_cast<std::size_t>(layout.nodes), false);
  for (const DrawnMessage& message : step.messages) {
    busy[static_cast<std::size_t>(message.from)] = busy[static_cast<std::size_t>(message.to)] =
        true;
  }
  draw_nodes(layout, &busy, held, marks);
  worms.numbers();
  return marks;
}

LinkTotals link_totals(const Schedule& schedule, const Routing& routing) {
  const auto links = static_cast<std::size_t>(routing.topology().links());
  LinkTotals totals{std::vector<std::uint64_t>(links), std::vector<int>(links)};
  std::vector<int> load(links);
  std::vector<std::size_t> used;
  for (std::size_t step = 0; step < schedule.steps(); ++step) {
    for (const DrawnMessage& message : messages_of(schedule, routing, step)) {
      for (const Channel channel : message.route) {
        const auto link = static_cast<std::size_t>(routing.link(channel));
        totals.bytes[link] += message.bytes;
        if (load[link]++ == 0) used.push_back(link);
      }
    }
    for (const std::size_t link : used) {
      totals.most[link] = std::max(totals.most[link], load[link]);
      load[link] = 0;
    }
    used.clear();
  }
  return totals;
}

Marks totals_marks(const Layout& layout, const LinkTotals& totals) {
  Marks marks;
  draw_ground(layout, marks);
  const double most = static_cast<double>(
      std::max<std::uint64_t>(1, totals.bytes.empty() ? 1 : std::ranges::max(totals.bytes)));
  for (std::size_t link = 0; link < totals.bytes.size(); ++link) {
    if (totals.bytes[link] == 0) continue;
    const double share = static_cast<double>(totals.bytes[link]) / most;
    const int level = std::clamp(static_cast<int>(std::ceil(5 * share)), 1, 5);
    marks.push_back(path_mark(lane_pieces(layout.lanes[link]), colours::sequence(level),
                              layout.lane * (1 + 1.67 * share)));
  }
  draw_nodes(layout, nullptr, nullptr, marks);
  return marks;
}

double draw_legend(const std::vector<LegendEntry>& entries, Point at, double width, double font,
                   Marks& marks) {
  constexpr double sample = 26, gap = 6;
  const double line = 1.5 * font;
  double x = 0, y = font;
  for (const LegendEntry& entry : entries) {
    const double room = sample + gap + text_room(entry.text, font, false) + 3 * gap;
    if (x > 0 && x + room > width) x = 0, y += line;
    const double part = sample / static_cast<double>(entry.colours.size());
    for (std::size_t i = 0; i < entry.colours.size(); ++i) {
      const Point from = at + Point{x + part * static_cast<double>(i), y - 0.35 * font};
      marks.push_back(path_mark({{from, from + Point{part, 0}}}, entry.colours[i], 4));
      marks.back().dash = entry.dash;
    }
    marks.push_back(text_mark(at + Point{x + sample + gap, y}, entry.text, font, colours::mute));
    x += room;
  }
  return entries.empty() ? 0 : y + 0.5 * font;
}

namespace {

constexpr double sheet_margin = 44, sheet_gap = 18;

/// A caption starts behind its head.
double caption_inset(const Still& still) { return text_room(still.head + " ", 12.5, true) + 3; }
std::vector<std::string> caption_lines(const Still& still, double width) {
  return wrapped(still.caption, 12, width - caption_inset(still));
}
/// The height of a picture with its caption in a column of a given width.
double picture_height(const Still& still, double width, double most_height) {
  const double lines = static_cast<double>(caption_lines(still, width).size());
  const double scale = std::min({width / still.size.x, most_height / still.size.y, 1.25});
  return 9 + 15 * lines + scale * still.size.y + 18;
}

/// Draws the title, the lines below it and the table of figures; returns the y below them.
double draw_head(const Sheet& sheet, double width, Marks& marks) {
  double y = sheet_margin + 16;
  marks.push_back(text_mark({sheet_margin, y}, sheet.title, 20, colours::ink, -1, true));
  for (const std::string& line : wrapped(sheet.below, 12.5, width)) {
    y += 18;
    marks.push_back(text_mark({sheet_margin, y}, line, 12.5, colours::mute));
  }
  y += 14;
  for (std::size_t row = 0; row < sheet.figures.size(); ++row) {
    y += 22;
    const TableRow& cells = sheet.figures[row];
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const double x = i == 0 ? sheet_margin : sheet_margin + 140 + 95 * static_cast<double>(i);
      marks.push_back(text_mark({x, y}, cells[i], row == 0 ? 11.5 : 13,
                                row == 0 ? colours::mute : colours::ink, i == 0 ? -1 : 1,
                                i == 1 && row > 0));
    }
    const double end = sheet_margin + 140 + 95 * static_cast<double>(sheet.figures[0].size() - 1);
    marks.push_back(path_mark({{{sheet_margin, y + 7}, {end, y + 7}}}, colours::rule, 1));
  }
  return y + (sheet.figures.empty() ? 12 : 32);
}

/// Draws a picture in a box of a given width; returns its height.
double draw_picture(const Still& still, Point at, double width, double most_height, Marks& marks) {
  marks.push_back(path_mark({{at, at + Point{width, 0}}}, colours::ink, 1));
  marks.push_back(text_mark(at + Point{0, 17}, still.head, 12.5, colours::ink, -1, true));
  double y = 2;
  for (const std::string& line : caption_lines(still, width)) {
    y += 15;
    marks.push_back(text_mark(at + Point{caption_inset(still), y}, line, 12, colours::mute));
  }
  const double scale = std::min({width / still.size.x, most_height / still.size.y, 1.25});
  const Point to = at + Point{(width - scale * still.size.x) / 2, y + 7} - scale * still.corner;
  std::ranges::move(moved(still.marks, to, scale), std::back_inserter(marks));
  return picture_height(still, width, most_height);
}

void draw_foot(const Sheet& sheet, double y, double width, Marks& marks) {
  marks.push_back(path_mark({{{sheet_margin, y}, {sheet_margin + width, y}}}, colours::faint, 1));
  for (const std::string& line : wrapped(sheet.foot, 10.5, width)) {
    y += 15;
    marks.push_back(text_mark({sheet_margin, y}, line, 10.5, colours::mute));
  }
}

}  // namespace

std::string sheet_svg(const Sheet& sheet) {
  const bool alone = sheet.pictures.size() == 1;
  const double column = 340, width = 2 * column + sheet_gap;
  Marks marks;
  double y = sheet.bare ? sheet_margin : draw_head(sheet, width, marks);
  for (std::size_t i = 0; i < sheet.pictures.size(); i += 2) {
    double height = 0;
    for (std::size_t k = i; k < std::min(i + 2, sheet.pictures.size()); ++k) {
      const double x = sheet_margin + static_cast<double>(k - i) * (column + sheet_gap);
      height = std::max(
          height, draw_picture(sheet.pictures[k], {x, y}, alone ? width : column, 900, marks));
    }
    y += height;
  }
  y += draw_legend(sheet.legend, {sheet_margin, y}, width, 10.5, marks) + 6;
  if (!sheet.bare) draw_foot(sheet, y, width, marks);
  return cropped_svg(marks, {.title = sheet.title});
}

}  // namespace wormcube::apps
