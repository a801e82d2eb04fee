// Layouts: circles, grids, planes, nested squares, trees, graphs.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/layout.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <optional>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

constexpr double pitch = 72, margin = 14;

Point unit(Point a) {
  const double length = std::max(1e-9, std::hypot(a.x, a.y));
  return {a.x / length, a.y / length};
}
/// To the right of who travels so; y goes down.
constexpr Point right_of(Point direction) { return {-direction.y, direction.x}; }

constexpr Rank gray(Rank i) { return i ^ i >> 1; }
Rank from_gray(Rank code) {
  Rank i = 0;
  for (; code != 0; code >>= 1) i ^= code;
  return i;
}

class LayoutMaker {
 public:
  LayoutMaker(const Routing& routing, bool folded)
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

  Layout make() {
    const bool has_switches = result_.places.size() > static_cast<std::size_t>(result_.nodes);
    const bool has_tree = std::ranges::any_of(
        real_, [&](int d) { return topology_.factor(d).shape() == Shape::tree; });
    const bool is_cube = topology_.is_hypercube();
    if (is_cube) name_nodes_in_binary();
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

 private:
  // What is drawn.

  void make_vertices() {
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

  std::int32_t vertex(int d, Rank line, Rank in_factor) const {
    const Graph& factor = topology_.factor(d);
    if (in_factor < factor.nodes()) return topology_.on_line(d, line, in_factor);
    return first_switch_[static_cast<std::size_t>(d)] +
           line * (factor.vertices() - factor.nodes()) + in_factor - factor.nodes();
  }

  void make_lanes(const Routing& routing) {
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

  static bool closes(const Graph& factor, Rank from, Rank to) {
    return std::abs(from - to) > 1 && factor.nodes() > 2;
  }
  static bool goes_plus(const Graph& factor, Rank from, Rank to) {
    return factor.shape() == Shape::ring && closes(factor, from, to) ? from > to : to > from;
  }

  // Lanes.

  Point& place(std::int32_t v) { return result_.places[static_cast<std::size_t>(v)]; }
  double reach(std::int32_t v) const {  // half its side
    return v < result_.nodes ? result_.radius : 0.72 * result_.radius;
  }

  /// On the right-hand side of the line between two vertices.
  void straight(Lane& lane) {
    const Point a = place(lane.from), b = place(lane.to), to = unit(b - a);
    const Point aside = (lane.thin && lane.gap == 0 ? thin_offset_ : result_.offset) * right_of(to);
    const auto edge = [&](std::int32_t v) {
      return v < result_.nodes ? reach(v) / std::max(std::abs(to.x), std::abs(to.y)) : reach(v);
    };
    lane.points = {a + edge(lane.from) * to + aside, b - edge(lane.to) * to + aside};
  }

  /// Leaves in one direction, and arrives at the other end from another.
  void stubs(Lane& lane, Point leaving, Point outside_receiver, double length, double start) {
    const Point a = place(lane.from), b = place(lane.to);
    const Point out = result_.offset * right_of(leaving),
                in = result_.offset * right_of(-1 * outside_receiver);
    lane.points = {a + start * leaving + out, a + (start + length) * leaving + out,
                   b + (start + length) * outside_receiver + in, b + start * outside_receiver + in};
    lane.gap = 2;
  }
  void number_stub(std::int32_t at, std::int32_t partner, Point direction) {
    if (result_.large) return;
    const Point p = place(at) + (result_.radius + stub_ + 11) * direction;
    result_.labels.push_back({{p.x, p.y + 3.3}, name(partner)});
  }
  const std::string& name(std::int32_t v) const {
    return result_.names[static_cast<std::size_t>(v)];
  }

  /// A flat curve beside the line of nodes, for complete graphs and graphs laid in a row.
  /// \param away  the side on which it lies
  void arc(Lane& lane, int distance, Point away) {
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

  /// Of a complete graph on a circle: bent inwards as far as it takes to pass the nodes beside its ends.
  void chord(Lane& lane, Rank count) {
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

  // Whole networks.

  void as_graph() {
    std::vector<std::pair<std::int32_t, std::int32_t>> links;
    for (const Lane& lane : result_.lanes) {
      if (lane.from < lane.to) links.emplace_back(lane.from, lane.to);
    }
    const double wide = result_.large ? 2 * pitch_ : pitch_;
    result_.places = graph_places(static_cast<std::int32_t>(result_.places.size()), links, wide);
    for (Lane& lane : result_.lanes) straight(lane);
  }

  void one_dimension(int d) {
    const Graph& factor = topology_.factor(d);
    const Rank n = factor.nodes();
    switch (factor.shape()) {
      case Shape::line:
        return row_or_snake(d, false);
      case Shape::ring:
        if (n <= 2) return row_or_snake(d, false);
        if (folded_) return folded_row(d);
        return n <= 32 ? circle(d) : row_or_snake(d, true);
      case Shape::complete:
        if (n == 2) return row_or_snake(d, false);
        on_circle(n, 0, n);
        thin_offset_ = 2;
        for (Lane& lane : result_.lanes) chord(lane, n);
        return;
      case Shape::tree:
        return tree(d);
      case Shape::graph:
        break;
    }
    if (topology_.name() == "petersen") {
      for (Rank i = 0; i < 10; ++i) {
        const double angle = 2 * std::numbers::pi * (i % 5) / 5, r = i < 5 ? 205 : 104;
        place(i) = {r * std::sin(angle), -r * std::cos(angle)};
      }
    } else if (topology_.name().starts_with("star:")) {
      on_circle(n - 1, 1, n);
    } else {
      return as_graph();
    }
    for (Lane& lane : result_.lanes) straight(lane);
  }

  double circle_radius(Rank count) const {
    const double f = count <= 16 ? 1 : 0.82;
    return std::max(110.0 * pitch_ / pitch, f * pitch_ * count / (2 * std::numbers::pi));
  }
  void on_circle(Rank count, Rank first, Rank end) {
    const double radius = circle_radius(count);
    for (Rank v = first; v < end; ++v) {
      const double angle = 2 * std::numbers::pi * (v - first) / count;
      place(v) = {radius * std::sin(angle), -radius * std::cos(angle)};
    }
  }

  void circle(int d) {
    const Rank n = topology_.size(d);
    on_circle(n, 0, n);
    const double radius = circle_radius(n), trim = (result_.radius + 2) / radius;
    const double one = 2 * std::numbers::pi / n;
    for (Lane& lane : result_.lanes) {
      const bool plus = (lane.to - lane.from + n) % n == 1;
      const double r = radius + (plus ? -1 : 1) * result_.offset;
      const double a = one * lane.from + (plus ? trim : -trim);
      const double b = a + (plus ? 1 : -1) * (one - 2 * trim);
      for (int i = 0; i < 13; ++i) {
        const double angle = a + (b - a) * i / 12;
        lane.points.push_back({r * std::sin(angle), -r * std::cos(angle)});
      }
    }
  }

  void folded_row(int d) {
    const Rank n = topology_.size(d);
    for (Rank i = 0; i < n; ++i) place(i) = {pitch_ * folded(i, n), 0};
    // Links over one node pass above it going one way, below it going the other.
    for (Lane& lane : result_.lanes) {
      const int apart = std::abs(folded(lane.from, n) - folded(lane.to, n));
      apart == 1
          ? straight(lane)
          : arc(lane, apart,
                folded(std::min(lane.from, lane.to), n) % 2 == 0 ? Point{0, -1} : Point{0, 1});
    }
  }
  static Rank folded(Rank i, Rank n) { return 2 * i < n ? 2 * i : 2 * (n - 1 - i) + 1; }

  void row_or_snake(int d, bool closed) {
    const Rank n = topology_.size(d);
    const Rank columns =
        n <= 16 ? n : static_cast<Rank>(std::ceil(std::sqrt(1.6 * static_cast<double>(n))));
    for (Rank i = 0; i < n; ++i) {
      const Rank row = i / columns, column = i % columns;
      place(i) = {pitch_ * (row % 2 == 0 ? column : columns - 1 - column), pitch_ * row};
    }
    for (Lane& lane : result_.lanes) {
      const Rank low = std::min(lane.from, lane.to), high = std::max(lane.from, lane.to);
      if (closed && high - low > 1) {
        const Point up{0, -1},
            end = n / columns % 2 == 0 && n % columns != 0 ? Point{1, 0} : Point{0, 1};
        stubs(lane, lane.from == 0 ? up : end, lane.to == 0 ? up : end, stub_, result_.radius);
        number_stub(lane.from, lane.to, lane.from == 0 ? up : end);
      } else if (low / columns != high / columns) {  // a half circle at the end of a row
        const double side = low / columns % 2 == 0 ? 1 : -1;
        const Point middle = 0.5 * (place(low) + place(high));
        const bool down = lane.from < lane.to;
        // Down on the right-hand side the right of the way is inside; the other way it is outside.
        const double r = pitch_ / 2 + ((down == (side > 0)) ? -1 : 1) * result_.offset;
        const double x = middle.x + side * result_.radius;
        for (int i = 0; i <= 12; ++i) {
          const double angle = std::numbers::pi * i / 12 - std::numbers::pi / 2;
          lane.points.push_back({x + side * r * std::cos(angle), middle.y + r * std::sin(angle)});
        }
        if (!down) std::ranges::reverse(lane.points);
      } else {
        straight(lane);
      }
    }
  }

  void tree(int d) {
    const Graph& factor = topology_.factor(d);
    const Rank leaves = factor.nodes();
    std::vector<std::vector<Rank>> children(static_cast<std::size_t>(factor.vertices()));
    std::vector<bool> is_child(children.size(), false);
    for (std::int64_t link = 0; link < factor.links(); ++link) {
      const auto [from, to] = factor.ends(link);
      if (!factor.goes_up(link)) continue;
      children[static_cast<std::size_t>(to)].push_back(from);
      is_child[static_cast<std::size_t>(from)] = true;
    }
    const std::function<int(Rank)> put = [&](Rank v) -> int {
      if (v < leaves) {
        place(v) = {1.05 * pitch_ * v, 0};
        return 0;
      }
      int level = 0;
      double x = 0;
      for (const Rank child : children[static_cast<std::size_t>(v)]) {
        level = std::max(level, put(child) + 1);
        x += place(child).x;
      }
      x /= static_cast<double>(
          std::max<std::size_t>(1, children[static_cast<std::size_t>(v)].size()));
      place(v) = {x, -1.15 * pitch_ * level};
      return level;
    };
    for (Rank v = 0; v < factor.vertices(); ++v) {
      if (!is_child[static_cast<std::size_t>(v)]) put(v);
    }
    for (Lane& lane : result_.lanes) straight(lane);
  }

  // Planes of two dimensions.

  struct Axis {
    int d = -1;
    Shape shape = Shape::line;
    Rank size = 1;
    double pitch = 0;
  };
  bool has_arcs(const Axis& axis) const {
    return (axis.shape == Shape::complete || axis.shape == Shape::graph) && axis.size > 2;
  }
  bool has_stubs(const Axis& axis) const {
    return !folded_ && axis.shape == Shape::ring && axis.size > 2;
  }
  Axis axis(int d) const { return {d, topology_.factor(d).shape(), topology_.size(d), pitch_}; }
  double position(const Axis& axis, Rank coordinate) const {
    const bool fold = folded_ && axis.shape == Shape::ring && axis.size > 2;
    return axis.pitch * (fold ? folded(coordinate, axis.size) : coordinate);
  }

  /// The places of one plane, its first node at a corner.
  void put_plane(const Axis& rows, const Axis& columns, Point corner, Rank base) {
    for (Rank i = 0; i < rows.size; ++i) {
      for (Rank j = 0; j < columns.size; ++j) {
        const Rank rank = base + i * topology_.stride(rows.d) + j * topology_.stride(columns.d);
        place(rank) = corner + Point{position(columns, j), position(rows, i)};
      }
    }
  }

  /// A lane inside a plane along one of its axes. \param along  where coordinates grow
  void in_plane(Lane& lane, const Axis& axis, Point along) {
    const Rank a = topology_.coordinate(lane.from, axis.d),
               b = topology_.coordinate(lane.to, axis.d);
    const Point away = along.x > 0 ? Point{0, -1} : Point{-1, 0};
    if (folded_ && axis.shape == Shape::ring && axis.size > 2) {
      const Rank i = folded(a, axis.size), j = folded(b, axis.size);
      const Point side = folded(std::min(a, b), axis.size) % 2 == 0 ? away : -1 * away;
      std::abs(i - j) == 1 ? straight(lane) : arc(lane, std::abs(i - j), side);
    } else if (has_stubs(axis) && std::abs(a - b) > 1) {
      const Point out = a > b ? along : -1 * along;
      stubs(lane, out, -1 * out, stub_, result_.radius);
      number_stub(lane.from, lane.to, out);
    } else if (has_arcs(axis) && std::abs(a - b) > 1) {
      arc(lane, std::abs(a - b), away);
    } else {
      lane.thin = false;
      straight(lane);
    }
  }

  void grid() {
    Axis rows = axis(real_[0]), columns = axis(real_[1]);
    spread(rows, columns);
    put_plane(rows, columns, {}, 0);
    for (Lane& lane : result_.lanes) {
      lane.dimension == rows.d ? in_plane(lane, rows, {0, 1}) : in_plane(lane, columns, {1, 0});
    }
    if (result_.large) number_borders(rows, columns, {}, 0);
  }
  /// Room for arcs across the axis that has them.
  void spread(Axis& rows, Axis& columns) const {
    if (has_arcs(columns)) rows.pitch *= std::max(1.3, (30 + 11.0 * (columns.size - 1)) / pitch_);
    if (has_arcs(rows)) columns.pitch *= std::max(1.3, (30 + 11.0 * (rows.size - 1)) / pitch_);
  }
  void number_borders(const Axis& rows, const Axis& columns, Point corner, Rank base) {
    for (Rank i = 0; i < rows.size; i += 4) {
      result_.labels.push_back({corner + Point{-40, position(rows, i) + 4.5},
                                name(base + i * topology_.stride(rows.d)), 14, 0});
    }
    for (Rank j = 0; j < columns.size; j += 4) {
      result_.labels.push_back({corner + Point{position(columns, j), -27},
                                name(base + j * topology_.stride(columns.d)), 14, 0});
    }
  }

  // Three dimensions and more: planes of the last two, numbered by the others.

  struct PlaneSizes {
    double across, down;               // from one plane to the next
    double left, right, above, below;  // of the frame, around the nodes' middles
  };

  /// \param inner  the width and height of a plane, between the middles of its outermost nodes
  void place_planes(Rank count, Point inner, const PlaneSizes& sizes,
                    const std::function<void(Rank plane, Point corner)>& put,
                    const std::function<std::string(Rank plane)>& caption) {
    Rank best = 1;
    double least = std::numeric_limits<double>::infinity();
    for (Rank columns = 1; columns <= count; ++columns) {
      const Rank rows = (count + columns - 1) / columns;
      const double width = columns * (inner.x + sizes.across),
                   height = rows * (inner.y + sizes.down);
      const double price =
          std::abs(std::log(width / (1.15 * height))) + 0.3 * (rows * columns - count);
      if (price < least - 1e-9) least = price, best = columns;
    }
    for (Rank plane = 0; plane < count; ++plane) {
      const Point corner{plane % best * (inner.x + sizes.across),
                         static_cast<double>(plane / best) * (inner.y + sizes.down)};
      const Point frame{corner.x - sizes.left, corner.y - sizes.above};
      result_.frames.push_back(
          {frame,
           {inner.x + sizes.left + sizes.right, inner.y + sizes.above + sizes.below},
           caption(plane)});
      put(plane, corner);
    }
  }

  /// Links between planes: short stubs at 45 degrees, two dimensions of them; the others are ticks.
  void between_planes(Lane& lane, int outer, bool plus, bool complete) {
    const double r = result_.radius, s = std::numbers::sqrt2 / 2;
    if (outer < 2) {
      const Point up = outer == 0 ? Point{s, -s} : Point{-s, -s};
      const Point leaving = complete || plus ? up : -1 * up;
      const Point outside = complete || !plus ? up : -1 * up;
      stubs(lane, leaving, outside, tick_, r * std::numbers::sqrt2);
      return;
    }
    const double y = (outer - 2) * 6.0 - r + 4, shift = plus ? 0 : 3;
    const double length = result_.large ? 3 : 6;
    lane.tick = true;
    const Point a = place(lane.from) + Point{r, y + shift},
                b = place(lane.to) + Point{-r, y + shift};
    lane.points = {a, a + Point{length, 0}, b - Point{length, 0}, b};
    lane.gap = 2;
  }

  void shrink(double factor, double radius, double offset) {
    if (result_.large) {
      tick_ = 5;
      return;
    }
    pitch_ = factor * pitch, result_.radius = radius, result_.offset = offset;
    stub_ = 0.36 * pitch_, tick_ = 0.17 * pitch;
    result_.number_size = radius > 12 ? 11 : 10.5;
  }

  void planes() {
    shrink(0.86, 12, 3.6);
    Axis rows = axis(real_[real_.size() - 2]), columns = axis(real_.back());
    spread(rows, columns);
    const bool rings = has_stubs(rows) || has_stubs(columns);
    const double unit_of = result_.large ? pitch_ / 0.86 : pitch;
    PlaneSizes sizes{(rings ? 2.0 : 1.65) * unit_of,  (rings ? 2.28 : 2.0) * unit_of,
                     (rings ? 0.86 : 0.68) * unit_of, (rings ? 0.86 : 0.68) * unit_of,
                     (rings ? 1.05 : 0.86) * unit_of, (rings ? 0.86 : 0.60) * unit_of};
    if (has_arcs(columns))
      sizes.above += 11.0 * (columns.size - 2), sizes.down += 11.0 * (columns.size - 2);
    if (has_arcs(rows))
      sizes.left += 11.0 * (rows.size - 2), sizes.across += 11.0 * (rows.size - 2);
    const std::vector<int> outer(real_.begin(), real_.end() - 2);
    Rank count = 1;
    for (const int d : outer) count *= topology_.size(d);
    const auto base_of = [&](Rank plane) {
      Rank base = 0;
      for (auto d = outer.rbegin(); d != outer.rend(); ++d) {
        base += plane % topology_.size(*d) * topology_.stride(*d);
        plane /= topology_.size(*d);
      }
      return base;
    };
    place_planes(
        count, {position(columns, columns.size - 1), position(rows, rows.size - 1)}, sizes,
        [&](Rank plane, Point corner) { put_plane(rows, columns, corner, base_of(plane)); },
        [&](Rank plane) {
          std::string text = "layer";
          char separator = ' ';
          for (const int d : outer) {
            text += fmt::format("{}{}", separator, topology_.coordinate(base_of(plane), d));
            separator = ',';
          }
          return text;
        });
    for (Lane& lane : result_.lanes) {
      if (lane.dimension == rows.d) {
        in_plane(lane, rows, {0, 1});
      } else if (lane.dimension == columns.d) {
        in_plane(lane, columns, {1, 0});
      } else {
        const Graph& factor = topology_.factor(lane.dimension);
        const Rank a = topology_.coordinate(lane.from, lane.dimension),
                   b = topology_.coordinate(lane.to, lane.dimension);
        const auto number = std::ranges::find(outer, lane.dimension) - outer.begin();
        between_planes(lane, static_cast<int>(number), goes_plus(factor, a, b),
                       !factor.has_direction());
        lane.thin = false;
      }
    }
  }

  // Hypercubes.

  void name_nodes_in_binary() {
    const int bits = static_cast<int>(real_.size());
    if (bits == 0) return;
    for (Rank rank = 0; rank < topology_.nodes(); ++rank) {
      std::string& name = result_.names[static_cast<std::size_t>(rank)];
      name = fmt::format("{:0{}b}", rank, bits);
      if (bits > 4) name.insert(name.size() - static_cast<std::size_t>(bits) / 2, "\n");
    }
    if (result_.number_size > 0) result_.number_size = bits > 4 ? 8.6 : bits == 4 ? 9.4 : 11.5;
  }

  void nested_squares() {
    const auto d = real_.size();
    for (Rank rank = 0; rank < topology_.nodes(); ++rank) {
      const Rank square = d == 3 ? rank >> 2 & 1 : from_gray(rank >> 2 & 3);
      const double half = 66 + (d == 3 ? 92.0 : 64.0) * square;
      place(rank) = {1.18 * half * ((rank & 1) != 0 ? 1 : -1), half * ((rank & 2) != 0 ? 1 : -1)};
    }
    for (Lane& lane : result_.lanes) {
      const Rank bits = lane.from ^ lane.to;
      const bool closing =
          d == 4 && bits >= 4 && std::abs(from_gray(lane.from >> 2) - from_gray(lane.to >> 2)) == 3;
      if (!closing) {
        straight(lane);
        continue;
      }
      const Point a = place(lane.from), b = place(lane.to), middle = 0.5 * (a + b);
      Point normal = right_of(unit(b - a));
      if (normal.x * middle.x < 0) normal = -1 * normal;  // away from the vertical axis
      // Off the nodes' own lanes: the curve stays above or below both squares between.
      const Point control = middle + 104 * normal;
      const Point start = unit(control - a), end = unit(b - control);
      const auto clear = [&](Point to) {
        return result_.radius / std::max(std::abs(to.x), std::abs(to.y));
      };
      const Point first = a + clear(start) * start, last = b - clear(end) * end;
      constexpr int pieces = 16;
      std::vector<Point> curve;
      for (int i = 0; i <= pieces; ++i) {
        const double t = static_cast<double>(i) / pieces;
        const Point p = (1 - t) * (1 - t) * first + 2 * t * (1 - t) * control + t * t * last;
        const Point tangent = unit(2 * (1 - t) * (control - first) + 2 * t * (last - control));
        lane.points.push_back(p + result_.offset * right_of(tangent));
      }
    }
  }

  void gray_planes() {
    const int bits = static_cast<int>(real_.size());
    shrink(64.0 / pitch, 13, 3.8);
    if (!result_.large) result_.number_size = 8.6, stub_ = 0.26 * pitch;
    const double unit_of = result_.large ? pitch_ : pitch;
    const PlaneSizes sizes{1.72 * unit_of, 1.8 * unit_of,  0.74 * unit_of,
                           0.74 * unit_of, 0.86 * unit_of, 0.72 * unit_of};
    const Rank count = topology_.nodes() / 16;
    place_planes(
        count, {3 * pitch_, 3 * pitch_}, sizes,
        [&](Rank plane, Point corner) {
          for (Rank i = 0; i < 16; ++i) {
            const Rank row = i / 4, column = i % 4;
            place(plane * 16 + (gray(row) << 2 | gray(column))) =
                corner + Point{column * pitch_, row * pitch_};
          }
        },
        [&](Rank plane) { return fmt::format("{:0{}b}xxxx", plane, bits - 4); });
    for (Lane& lane : result_.lanes) {
      const Rank bit = lane.from ^ lane.to;
      const Point apart = place(lane.to) - place(lane.from);
      if (bit < 16) {
        const Point to = unit(apart);
        if (std::hypot(apart.x, apart.y) > 1.5 * pitch_) {
          const Point out = -1 * to;
          stubs(lane, out, to, stub_, result_.radius);
        } else {
          straight(lane);
        }
        continue;
      }
      const int number = std::countr_zero(static_cast<unsigned>(bit)) - 4;
      if (number >= 4) {
        between_planes(lane, number - 2, lane.from < lane.to, false);
        continue;
      }
      constexpr double s = std::numbers::sqrt2 / 2;
      const std::array<Point, 4> slants{Point{s, -s}, Point{-s, -s}, Point{-s, s}, Point{s, s}};
      const Point slant = slants[static_cast<std::size_t>(number)];
      stubs(lane, slant, slant, tick_, result_.radius * std::numbers::sqrt2);
    }
  }

  // Around it.

  void describe() {
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

  void bound() {
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
    const auto tenth = [](double x) { return std::round(10 * x) / 10; };
    result_.corner = {tenth(least.x - margin), tenth(least.y - margin)};
    result_.size = {tenth(most.x - least.x + 2 * margin), tenth(most.y - least.y + 2 * margin)};
    for (Lane& lane : result_.lanes) {
      for (Point& p : lane.points) p = {tenth(p.x), tenth(p.y)};
    }
    for (Point& p : result_.places) p = {tenth(p.x), tenth(p.y)};
  }

  const Topology& topology_;
  bool folded_;
  std::vector<int> real_;  // dimensions of more than one node
  std::vector<std::int32_t> first_switch_;
  double pitch_ = pitch, stub_ = 0.36 * pitch, tick_ = 0.17 * pitch, thin_offset_ = 5;
  Layout result_;
};

}  // namespace

void require_drawable(const Topology& topology) {
  if (topology.links() <= most_drawn_links) return;
  throw UsageError(fmt::format(
      "{} has {} links; pictures are drawn of up to {}; use a smaller network of its kind",
      topology.name(), topology.links(), most_drawn_links));
}

Layout layout(const Routing& routing, bool folded) {
  require_drawable(routing.topology());
  return LayoutMaker(routing, folded).make();
}

}  // namespace wormcube::apps
