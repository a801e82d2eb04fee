// Layouts of one dimension: circles, rows, trees.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/layout_maker.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace wormcube::apps {

void LayoutMaker::one_dimension(int d) {
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

double LayoutMaker::circle_radius(Rank count) const {
  const double f = count <= 16 ? 1 : 0.82;
  return std::max(110.0 * pitch_ / pitch, f * pitch_ * count / (2 * std::numbers::pi));
}

void LayoutMaker::on_circle(Rank count, Rank first, Rank end) {
  const double radius = circle_radius(count);
  for (Rank v = first; v < end; ++v) {
    const double angle = 2 * std::numbers::pi * (v - first) / count;
    place(v) = {radius * std::sin(angle), -radius * std::cos(angle)};
  }
}

void LayoutMaker::circle(int d) {
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

void LayoutMaker::folded_row(int d) {
  const Rank n = topology_.size(d);
  for (Rank i = 0; i < n; ++i) place(i) = {pitch_ * folded(i, n), 0};
  // A link that skips one node passes above it in one direction, below it in the other.
  for (Lane& lane : result_.lanes) {
    const int apart = std::abs(folded(lane.from, n) - folded(lane.to, n));
    apart == 1 ? straight(lane)
               : arc(lane, apart,
                     folded(std::min(lane.from, lane.to), n) % 2 == 0 ? Point{0, -1} : Point{0, 1});
  }
}

void LayoutMaker::row_or_snake(int d, bool closed) {
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
      // Downwards on the right-hand side, the right of the path is inside; upwards it is outside.
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

void LayoutMaker::tree(int d) {
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
    x /=
        static_cast<double>(std::max<std::size_t>(1, children[static_cast<std::size_t>(v)].size()));
    place(v) = {x, -1.15 * pitch_ * level};
    return level;
  };
  for (Rank v = 0; v < factor.vertices(); ++v) {
    if (!is_child[static_cast<std::size_t>(v)]) put(v);
  }
  for (Lane& lane : result_.lanes) straight(lane);
}

}  // namespace wormcube::apps
