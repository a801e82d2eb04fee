// Places of an arbitrary graph's vertices, by stress majorisation.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/draw/layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <queue>

namespace wormcube::apps {

namespace {

using Links = std::vector<std::pair<std::int32_t, std::int32_t>>;

/// Stress majorisation: E. Gansner, Y. Koren, S. North, Graph Drawing by Stress Majorization, 2004.
/// The start comes from distances to far-apart pivots (D. Harel, Y. Koren, Graph Drawing by
/// High-Dimensional Embedding, 2002). Nothing is random: the same graph gives the same picture.
class GraphPlacer {
 public:
  GraphPlacer(std::int32_t vertices, const Links& links, double ideal)
      : vertices_(static_cast<std::size_t>(vertices)),
        links_(links),
        ideal_(ideal),
        neighbours_(vertices_),
        places_(vertices_) {
    for (const auto& [a, b] : links) {
      neighbours_[static_cast<std::size_t>(a)].push_back(b);
      neighbours_[static_cast<std::size_t>(b)].push_back(a);
    }
    choose_pivots();
  }

  std::vector<Point> place() {
    if (vertices_ < 2) return places_;
    const bool small = vertices_ <= most_small;
    const std::size_t starts = small ? std::min(vertices_, starts_of_small) : 1;
    std::vector<Point> best;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t first = 0; first < starts; ++first) {
      start(first);
      majorise();
      const double cost = starts == 1 ? 0 : stress() + 1.2 * crossings();
      if (cost < least) least = cost, best = places_;
    }
    places_ = std::move(best);
    if (small) clear();
    turn();
    return std::move(places_);
  }

 private:
  /// Up to most_exact vertices all are pivots: the stress is that of all pairs.
  static constexpr std::size_t most_exact = 1024, pivots_of_larger = 100;
  /// For small graphs it keeps the best of several starts and moves nodes off foreign links.
  static constexpr std::size_t most_small = 128, starts_of_small = 16;
  static constexpr int sweeps = 200, sweeps_of_larger = 60, most_widenings = 8, pushes = 80;
  static constexpr double widening = 1.12;

  std::vector<int> distances_from(std::size_t start) const {
    std::vector<int> distance(vertices_, -1);
    std::queue<std::size_t> queue;
    distance[start] = 0;
    for (queue.push(start); !queue.empty(); queue.pop()) {
      const std::size_t v = queue.front();
      for (const std::int32_t next : neighbours_[v]) {
        const auto w = static_cast<std::size_t>(next);
        if (distance[w] >= 0) continue;
        distance[w] = distance[v] + 1;
        queue.push(w);
      }
    }
    return distance;
  }

  /// Each pivot is as far as possible from those before it; the first is far from vertex 0.
  void choose_pivots() {
    if (vertices_ == 0) return;
    const auto farthest = [](const std::vector<int>& distance) {
      return static_cast<std::size_t>(std::ranges::max_element(distance) - distance.begin());
    };
    std::vector<int> nearest(vertices_, std::numeric_limits<int>::max());
    std::size_t pivot = farthest(distances_from(0));
    const std::size_t count = vertices_ <= most_exact ? vertices_ : pivots_of_larger;
    while (pivots_.size() < count) {
      pivots_.push_back(pivot);
      distances_.push_back(distances_from(pivot));
      for (std::size_t v = 0; v < vertices_; ++v) {
        nearest[v] = std::min(nearest[v], distances_.back()[v]);
      }
      pivot = farthest(nearest);
    }
  }

  /// The distances to two pivots place a vertex across, those to the next two place it down: a mesh
  /// starts as a mesh.
  void start(std::size_t first) {
    const auto between = [&](std::size_t i, std::size_t v) {
      const std::size_t count = distances_.size();
      return 0.7 * (distances_[i % count][v] - distances_[(i + 1) % count][v]);
    };
    for (std::size_t v = 0; v < vertices_; ++v) {
      // A spiral separates vertices that have the same distances.
      const double angle = 2.39996 * static_cast<double>(v);
      const Point apart{0.4 * std::cos(angle), 0.4 * std::sin(angle)};
      places_[v] = ideal_ * (Point{between(first, v), between(first + 2, v)} + apart);
    }
  }

  void majorise() {
    const int count = vertices_ <= most_exact ? sweeps : sweeps_of_larger;
    for (int sweep = 0; sweep < count; ++sweep) {
      for (std::size_t v = 0; v < vertices_; ++v) {
        double weights = 0;
        Point sum;
        const auto pull = [&](std::size_t w, int hops) {
          if (w == v || hops <= 0) return;
          const double wanted = ideal_ * hops, weight = 1 / (wanted * wanted);
          const Point apart = places_[v] - places_[w];
          const double length = std::max(1e-9, std::hypot(apart.x, apart.y));
          sum = sum + weight * (places_[w] + wanted / length * apart);
          weights += weight;
        };
        for (std::size_t i = 0; i < pivots_.size(); ++i) pull(pivots_[i], distances_[i][v]);
        if (vertices_ > most_exact) {
          for (const std::int32_t w : neighbours_[v]) pull(static_cast<std::size_t>(w), 1);
        }
        if (weights > 0) places_[v] = 1 / weights * sum;
      }
    }
  }

  /// How far the distances are from the desired ones.
  double stress() const {
    double sum = 0;
    for (std::size_t i = 0; i < pivots_.size(); ++i) {
      for (std::size_t v = 0; v < vertices_; ++v) {
        if (distances_[i][v] <= 0) continue;
        const Point apart = places_[pivots_[i]] - places_[v];
        const double off = std::hypot(apart.x, apart.y) / (ideal_ * distances_[i][v]) - 1;
        sum += off * off / 2;  // each pair comes twice
      }
    }
    return sum;
  }
  int crossings() const {
    const auto at = [&](std::int32_t v) { return places_[static_cast<std::size_t>(v)]; };
    const auto is_right = [&](std::int32_t a, std::int32_t b, std::int32_t c) {
      return cross(at(b) - at(a), at(c) - at(a)) > 0;
    };
    int count = 0;
    for (std::size_t i = 0; i < links_.size(); ++i) {
      const auto [a, b] = links_[i];
      for (std::size_t j = 0; j < i; ++j) {
        const auto [c, d] = links_[j];
        if (a == c || a == d || b == c || b == d) continue;
        const bool crosses =
            is_right(a, b, c) != is_right(a, b, d) && is_right(c, d, a) != is_right(c, d, b);
        count += crosses ? 1 : 0;
      }
    }
    return count;
  }
  static double cross(Point a, Point b) { return a.x * b.y - a.y * b.x; }

  /// Moves nodes away from links that are not theirs; if that fails, the picture grows.
  void clear() {
    for (int wider = 0; wider <= most_widenings; ++wider) {
      if (wider > 0) {
        for (Point& place : places_) place = widening * place;
      }
      for (int push = 0; push < pushes; ++push) {
        if (!push_apart()) return;
      }
    }
  }
  /// \returns whether a node was too near a link
  bool push_apart() {
    const double from_link = 0.235 * ideal_, from_node = 0.4 * ideal_;
    bool near = false;
    for (std::size_t v = 0; v < vertices_; ++v) {
      for (std::size_t w = 0; w < v; ++w) {
        const Point apart = places_[v] - places_[w];
        const double length = std::max(1e-9, std::hypot(apart.x, apart.y));
        if (length >= from_node) continue;
        near = true;
        const Point by = 0.51 * (from_node - length) / length * apart;
        places_[v] = places_[v] + by, places_[w] = places_[w] - by;
      }
      for (const auto& [a, b] : links_) {
        const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
        if (i == v || j == v) continue;
        const double off = distance(places_[v], places_[i], places_[j]);
        if (off >= from_link) continue;
        near = true;
        const Point along = places_[j] - places_[i];
        const double length = std::max(1e-9, std::hypot(along.x, along.y));
        const double side = cross(along, places_[v] - places_[i]) < 0 ? -1 : 1;
        const double by = side * (from_link - off + 0.01 * ideal_) / length;
        const Point away{-by * along.y, by * along.x};
        places_[v] = places_[v] + 0.5 * away;
        places_[i] = places_[i] - 0.25 * away, places_[j] = places_[j] - 0.25 * away;
      }
    }
    return near;
  }
  /// From a point to the line between two others.
  static double distance(Point p, Point a, Point b) {
    const Point ab = b - a, ap = p - a;
    const double t = std::clamp(
        (ap.x * ab.x + ap.y * ab.y) / std::max(1e-9, ab.x * ab.x + ab.y * ab.y), 0.0, 1.0);
    const Point off = ap - t * ab;
    return std::hypot(off.x, off.y);
  }

  /// Turns vertex 0 to the top and vertex 1 to its right.
  void turn() {
    Point middle;
    for (const Point place : places_) middle = middle + place;
    middle = 1 / static_cast<double>(vertices_) * middle;
    const Point first = places_[0] - middle;
    const double angle = -std::numbers::pi / 2 - std::atan2(first.y, first.x);
    const double c = std::cos(angle), s = std::sin(angle);
    for (Point& place : places_) {
      const Point p = place - middle;
      place = {c * p.x - s * p.y, s * p.x + c * p.y};
    }
    const double mirror = places_[1].x < places_[0].x ? -1 : 1;
    for (Point& place : places_) {
      place = {std::round(mirror * place.x * 10) / 10, std::round(place.y * 10) / 10};
    }
  }

  std::size_t vertices_;
  const Links& links_;
  double ideal_;
  std::vector<std::vector<std::int32_t>> neighbours_;
  std::vector<std::size_t> pivots_;
  std::vector<std::vector<int>> distances_;  // from each pivot; -1 if unreachable
  std::vector<Point> places_;
};

}  // namespace

std::vector<Point> graph_places(std::int32_t vertices, const Links& links, double pitch) {
  return GraphPlacer(vertices, links, 1.62 * pitch).place();
}

}  // namespace wormcube::apps
