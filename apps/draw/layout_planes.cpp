// Layouts of more dimensions: grids, planes of two dimensions, hypercubes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/layout_maker.hpp"
#include "wormcube/runtime/base/numbers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/core.h>

namespace wormcube::apps {

bool LayoutMaker::has_arcs(const Axis& axis) const {
  return (axis.shape == Shape::complete || axis.shape == Shape::graph) && axis.size > 2;
}

bool LayoutMaker::has_stubs(const Axis& axis) const {
  return !folded_ && axis.shape == Shape::ring && axis.size > 2;
}

double LayoutMaker::position(const Axis& axis, Rank coordinate) const {
  const bool fold = folded_ && axis.shape == Shape::ring && axis.size > 2;
  return axis.pitch * (fold ? folded(coordinate, axis.size) : coordinate);
}

void LayoutMaker::put_plane(const Axis& rows, const Axis& columns, Point corner, Rank base) {
  for (Rank i = 0; i < rows.size; ++i) {
    for (Rank j = 0; j < columns.size; ++j) {
      const Rank rank = base + i * topology_.stride(rows.d) + j * topology_.stride(columns.d);
      place(rank) = corner + Point{position(columns, j), position(rows, i)};
    }
  }
}

void LayoutMaker::in_plane(Lane& lane, const Axis& axis, Point along) {
  const Rank a = topology_.coordinate(lane.from, axis.d), b = topology_.coordinate(lane.to, axis.d);
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

void LayoutMaker::grid() {
  Axis rows = axis(real_[0]), columns = axis(real_[1]);
  spread(rows, columns);
  put_plane(rows, columns, {}, 0);
  for (Lane& lane : result_.lanes) {
    lane.dimension == rows.d ? in_plane(lane, rows, {0, 1}) : in_plane(lane, columns, {1, 0});
  }
  if (result_.large) number_borders(rows, columns, {}, 0);
}

void LayoutMaker::spread(Axis& rows, Axis& columns) const {
  if (has_arcs(columns)) rows.pitch *= std::max(1.3, (30 + 11.0 * (columns.size - 1)) / pitch_);
  if (has_arcs(rows)) columns.pitch *= std::max(1.3, (30 + 11.0 * (rows.size - 1)) / pitch_);
}

void LayoutMaker::number_borders(const Axis& rows, const Axis& columns, Point corner, Rank base) {
  for (Rank i = 0; i < rows.size; i += 4) {
    result_.labels.push_back({corner + Point{-40, position(rows, i) + 4.5},
                              name(base + i * topology_.stride(rows.d)), 14, 0});
  }
  for (Rank j = 0; j < columns.size; j += 4) {
    result_.labels.push_back({corner + Point{position(columns, j), -27},
                              name(base + j * topology_.stride(columns.d)), 14, 0});
  }
}

void LayoutMaker::place_planes(Rank count, Point inner, const PlaneSizes& sizes,
                               const std::function<void(Rank plane, Point corner)>& put,
                               const std::function<std::string(Rank plane)>& caption) {
  Rank best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (Rank columns = 1; columns <= count; ++columns) {
    const Rank rows = (count + columns - 1) / columns;
    const double width = columns * (inner.x + sizes.across), height = rows * (inner.y + sizes.down);
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

void LayoutMaker::between_planes(Lane& lane, int outer, bool plus, bool complete) {
  const double r = result_.radius, s = std::numbers::sqrt2 / 2;
  if (outer < 2) {
    const Point up = outer == 0 ? Point{s, -s} : Point{-s, -s};
    const Point leaving = complete || plus ? up : -1 * up;
    const Point outside = complete || !plus ? up : -1 * up;
    stubs(lane, leaving, outside, corner_stub(), corner_reach * r);
    // With a second outer dimension there is no room for numbers.
    if (!complete && real_.size() == 3 && !result_.large) {
      const Point end = place(lane.from) + (r * std::numbers::sqrt2 + tick_) * leaving;
      const double aside = leaving.x > 0 ? 9.5 : -9.5, down = leaving.x > 0 ? 3.8 : 1.8;
      result_.labels.push_back({end + Point{aside, down}, name(lane.to), 8});
    }
    return;
  }
  const double y = (outer - 2) * 6.0 - r + 4, shift = plus ? 0 : 3;
  const double length = result_.large ? 3 : 6;
  lane.tick = true;
  const Point a = place(lane.from) + Point{r, y + shift}, b = place(lane.to) + Point{-r, y + shift};
  lane.points = {a, a + Point{length, 0}, b - Point{length, 0}, b};
  lane.gap = 2;
}

void LayoutMaker::shrink(double factor, double radius, double offset) {
  if (result_.large) {
    tick_ = 5;
    return;
  }
  pitch_ = factor * pitch, result_.radius = radius, result_.offset = offset;
  stub_ = 0.36 * pitch_, tick_ = 0.17 * pitch;
  result_.number_size = radius > 12 ? 11 : 10.5;
}

void LayoutMaker::planes() {
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
  if (has_arcs(rows)) sizes.left += 11.0 * (rows.size - 2), sizes.across += 11.0 * (rows.size - 2);
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

// The rank, as in all tables, and below it its bits. The captions of planes have the higher bits.
void LayoutMaker::name_cube_nodes() {
  const int bits = static_cast<int>(real_.size());
  if (bits < 2 || result_.large) return;
  const int shown = std::min(bits, 4);
  for (Rank rank = 0; rank < topology_.nodes(); ++rank) {
    result_.names[static_cast<std::size_t>(rank)] += fmt::format("\n{:0{}b}", rank & 15, shown);
  }
  result_.number_size = 9;
}

// The Gray code of two bits is its own inverse.
void LayoutMaker::nested_squares() {
  const auto d = real_.size();
  for (Rank rank = 0; rank < topology_.nodes(); ++rank) {
    const Rank square = d == 3 ? rank >> 2 & 1 : gray_code(rank >> 2 & 3);
    const double half = 66 + (d == 3 ? 92.0 : 64.0) * square;
    place(rank) = {1.18 * half * ((rank & 1) != 0 ? 1 : -1), half * ((rank & 2) != 0 ? 1 : -1)};
  }
  for (Lane& lane : result_.lanes) {
    const Rank bits = lane.from ^ lane.to;
    const bool closing =
        d == 4 && bits >= 4 && std::abs(gray_code(lane.from >> 2) - gray_code(lane.to >> 2)) == 3;
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

void LayoutMaker::gray_planes() {
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
          place(plane * 16 + (gray_code(row) << 2 | gray_code(column))) =
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
    stubs(lane, slant, slant, corner_stub(), corner_reach * result_.radius);
  }
}

}  // namespace wormcube::apps
