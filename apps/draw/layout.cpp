// Layouts: which one a network gets, its lanes, and its bounds.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/layout_maker.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/core.h>

namespace wormcube::apps {

LayoutMaker::LayoutMaker(const Routing& routing, bool folded)
    : topology_(routing.topology()), folded_(folded) {
  for (int d = 0; d < topology_.dimensions(); ++d) {
    if (topology_.size(d) > 1) real_.push_back(d);
  }
  result_.network = topology_.name();
  result_.dimensions = topology_.dimensions();
  result_.nodes = topology_.nodes();
  result_.large = topology_.nodes() > 256;
  if (result_.large) {
    pitch_ = 24, result_.radius = 5, result_.offset = 2.2, result_.lane = 1.4, stub_ = 9;
    result_.number_size = 0;
  } else {
    stub_ = 0.36 * pitch_;
  }
  result_.pitch = pitch_;
  make_vertices();
  make_lanes(routing);
}

Layout LayoutMaker::make() {
  const bool has_switches = result_.places.size() > static_cast<std::size_t>(result_.nodes);
  const bool has_tree =
      std::ranges::any_of(real_, [&](int d) { return topology_.factor(d).shape() == Shape::tree; });
  const bool is_cube = topology_.is_hypercube();
  if (is_cube) name_cube_nodes();
  if (real_.empty()) {
    // one node
  } else if (is_cube && real_.size() > 2) {
    real_.size() <= 4 ? nested_squares() : gray_planes();
  } else if (real_.size() == 1) {
    one_dimension(real_.front());
  } else if (has_tree || has_switches) {
    as_graph();
  } else if (real_.size() == 2) {
    grid();
  } else {
    planes();
  }
  describe();
  bound();
  return std::move(result_);
}

void LayoutMaker::make_vertices() {
  const auto nodes = static_cast<std::size_t>(topology_.nodes());
  result_.places.resize(nodes);
  for (Rank rank = 0; rank < topology_.nodes(); ++rank) {
    result_.names.push_back(std::to_string(rank));
  }
  // Switches: dimension by dimension, line by line.
  for (int d = 0; d < topology_.dimensions(); ++d) {
    first_switch_.push_back(static_cast<std::int32_t>(result_.names.size()));
    const Graph& factor = topology_.factor(d);
    const Rank inner = factor.vertices() - factor.nodes();
    const Rank lines = topology_.nodes() / factor.nodes();
    if (inner == 0) continue;
    for (Rank line = 0; line < lines; ++line) {
      for (Rank s = 0; s < inner; ++s) {
        result_.names.push_back(lines == 1 ? fmt::format("s{}", s)
                                           : fmt::format("s{}.{}.{}", d, line, s));
      }
    }
  }
  result_.places.resize(result_.names.size());
}

std::int32_t LayoutMaker::vertex(int d, Rank line, Rank in_factor) const {
  const Graph& factor = topology_.factor(d);
  if (in_factor < factor.nodes()) return topology_.on_line(d, line, in_factor);
  return first_switch_[static_cast<std::size_t>(d)] + line * (factor.vertices() - factor.nodes()) +
         in_factor - factor.nodes();
}

void LayoutMaker::make_lanes(const Routing& routing) {
  int first_slot = 0;
  std::vector<std::vector<int>> ports;  // of each link of a factor
  std::vector<int> slots;
  for (int d = 0; d < topology_.dimensions(); ++d) {
    const Graph& factor = topology_.factor(d);
    slots.push_back(first_slot);
    std::vector<int> port(static_cast<std::size_t>(factor.links()));
    int most = 1;
    for (Rank v = 0; v < factor.vertices(); ++v) {
      most = std::max(most, factor.ports(v));
      for (int i = 0; i < factor.ports(v); ++i) {
        const auto link = static_cast<std::size_t>(factor.link(v, i));
        const auto [from, to] = factor.ends(factor.link(v, i));
        port[link] = factor.has_direction() ? (goes_plus(factor, from, to) ? 0 : 1)
                     : factor.shape() == Shape::complete
                         ? (to - from + factor.nodes()) % factor.nodes()
                         : i;
      }
    }
    first_slot += factor.has_direction()              ? 2
                  : factor.shape() == Shape::complete ? factor.nodes()
                                                      : most;
    ports.push_back(std::move(port));
  }
  result_.lanes.resize(static_cast<std::size_t>(topology_.links()));
  for (Link link = 0; link < topology_.links(); ++link) {
    const Topology::Place place = topology_.place(link);
    const auto d = static_cast<std::size_t>(place.dimension);
    const Graph& factor = topology_.factor(place.dimension);
    const Graph::Ends ends = factor.ends(place.link);
    Lane& lane = result_.lanes[static_cast<std::size_t>(link)];
    lane.from = vertex(place.dimension, place.line, ends.from);
    lane.to = vertex(place.dimension, place.line, ends.to);
    lane.dimension = place.dimension;
    lane.slot = slots[d] + ports[d][static_cast<std::size_t>(place.link)];
    lane.dateline =
        factor.wraps() && routing.virtual_channels() > 1 && closes(factor, ends.from, ends.to);
    lane.thin = factor.shape() == Shape::complete && factor.nodes() > 2;
  }
}

bool LayoutMaker::closes(const Graph& factor, Rank from, Rank to) {
  return std::abs(from - to) > 1 && factor.nodes() > 2;
}

bool LayoutMaker::goes_plus(const Graph& factor, Rank from, Rank to) {
  return factor.shape() == Shape::ring && closes(factor, from, to) ? from > to : to > from;
}

void LayoutMaker::straight(Lane& lane) {
  const Point a = place(lane.from), b = place(lane.to), to = unit(b - a);
  const Point aside = (lane.thin && lane.gap == 0 ? thin_offset_ : result_.offset) * right_of(to);
  const auto edge = [&](std::int32_t v) {
    return v < result_.nodes ? reach(v) / std::max(std::abs(to.x), std::abs(to.y)) : reach(v);
  };
  lane.points = {a + edge(lane.from) * to + aside, b - edge(lane.to) * to + aside};
}

void LayoutMaker::stubs(Lane& lane, Point leaving, Point outside_receiver, double length,
                        double start) {
  const Point a = place(lane.from), b = place(lane.to);
  const Point out = result_.offset * right_of(leaving),
              in = result_.offset * right_of(-1 * outside_receiver);
  lane.points = {a + start * leaving + out, a + (start + length) * leaving + out,
                 b + (start + length) * outside_receiver + in, b + start * outside_receiver + in};
  lane.gap = 2;
}

void LayoutMaker::number_stub(std::int32_t at, std::int32_t partner, Point direction) {
  if (result_.large) return;
  const Point p = place(at) + (result_.radius + stub_ + 11) * direction;
  result_.labels.push_back({{p.x, p.y + 3.3}, name(partner)});
}

void LayoutMaker::arc(Lane& lane, int distance, Point away) {
  const Point a = place(lane.from), b = place(lane.to), to = unit(b - a);
  const double inset = std::max(-result_.radius + 3, 4 - 1.3 * (distance - 2));
  const double height = 5 + 11.0 * (distance - 1);
  const double aside = (right_of(to).x * away.x + right_of(to).y * away.y) > 0 ? 2 : -2;
  const Point first = a + inset * to, last = b - inset * to;
  constexpr int pieces = 12;
  for (int i = 0; i <= pieces; ++i) {
    const double t = static_cast<double>(i) / pieces;
    const double y = (height + aside) * std::pow(std::sin(std::numbers::pi * t), 0.75);
    lane.points.push_back(first + t * (last - first) + (result_.radius + y) * away);
  }
}

void LayoutMaker::chord(Lane& lane, Rank count) {
  straight(lane);
  const auto apart = std::abs(lane.from - lane.to);
  const int steps = std::min(apart, static_cast<std::int32_t>(count) - apart);
  if (steps < 2) return;
  const double angle = 2 * std::numbers::pi / static_cast<double>(count);
  const double radius = circle_radius(count), half = angle * steps / 2, beside = half - angle;
  const double room = radius * (std::cos(beside) - std::cos(half));
  const double at = 0.5 - 0.5 * std::sin(beside) / std::sin(half);
  const double bend =
      (std::numbers::sqrt2 * result_.radius + thin_offset_ + 2 - room) / (4 * at * (1 - at));
  if (bend <= 0) return;
  const Point first = lane.points[0], last = lane.points[1];
  const Point inwards = -1 * unit(place(lane.from) + place(lane.to));
  lane.points.clear();
  constexpr int pieces = 12;
  for (int i = 0; i <= pieces; ++i) {
    const double t = static_cast<double>(i) / pieces;
    lane.points.push_back(first + t * (last - first) + (4 * t * (1 - t) * bend) * inwards);
  }
}

void LayoutMaker::as_graph() {
  std::vector<std::pair<std::int32_t, std::int32_t>> links;
  for (const Lane& lane : result_.lanes) {
    if (lane.from < lane.to) links.emplace_back(lane.from, lane.to);
  }
  const double wide = result_.large ? 2 * pitch_ : pitch_;
  result_.places = graph_places(static_cast<std::int32_t>(result_.places.size()), links, wide);
  for (Lane& lane : result_.lanes) straight(lane);
}

void LayoutMaker::describe() {
  std::string text = topology_.name();
  const std::size_t colon = text.find(':');
  if (colon != text.npos && text.find('*') == text.npos && !text.starts_with("graph:")) {
    text[colon] = ' ';
    for (std::size_t x = text.find('x', colon); x != text.npos; x = text.find('x', x)) {
      text.replace(x, 1, " by ");
    }
  }
  result_.shape = std::move(text);
}

void LayoutMaker::bound() {
  Point least{1e30, 1e30}, most{-1e30, -1e30};
  const auto take = [&](Point p, double room) {
    least = {std::min(least.x, p.x - room), std::min(least.y, p.y - room)};
    most = {std::max(most.x, p.x + room), std::max(most.y, p.y + room)};
  };
  for (const Point p : result_.places) take(p, result_.radius + 4);
  for (const Lane& lane : result_.lanes) {
    for (const Point p : lane.points) take(p, result_.lane);
  }
  for (const Label& label : result_.labels) {
    take(label.at, 0.3 * label.size * static_cast<double>(label.text.size()) + 3);
  }
  for (const Frame& frame : result_.frames) {
    take(frame.corner, 0);
    take(frame.corner + frame.size, 0);
  }
  constexpr double margin = 14;
  const auto tenth = [](double x) { return std::round(10 * x) / 10; };
  result_.corner = {tenth(least.x - margin), tenth(least.y - margin)};
  result_.size = {tenth(most.x - least.x + 2 * margin), tenth(most.y - least.y + 2 * margin)};
  for (Lane& lane : result_.lanes) {
    for (Point& p : lane.points) p = {tenth(p.x), tenth(p.y)};
  }
  for (Point& p : result_.places) p = {tenth(p.x), tenth(p.y)};
}

void require_drawable(const Topology& topology) {
  if (topology.links() <= most_drawn_links) return;
  throw UsageError(fmt::format(
      "{} has {} links, the limit for pictures is {}; use a smaller network of its kind",
      topology.name(), topology.links(), most_drawn_links));
}

Layout layout(const Routing& routing, bool folded) {
  require_drawable(routing.topology());
  return LayoutMaker(routing, folded).make();
}

}  // namespace wormcube::apps
