// Stress majorisation (Gansner, Koren, North 2004), with fixed seeds.
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

class GraphPlacer {
 public:
  GraphPlacer(std::int32_t vertices, const Links& links, double ideal)
      : vertices_(static_cast<std::size_t>(vertices)), links_(links), ideal_(ideal) {
    neighbours_.resize(vertices_);
    for (const auto& [a, b] : links) {
      neighbours_[static_cast<std::size_t>(a)].push_back(b);
      neighbours_[static_cast<std::size_t>(b)].push_back(a);
    }
    // All distances, or those to a few vertices that lie far from each other.
    const bool all = vertices_ <= most_exact;
    std::vector<int> nearest(vertices_, std::numeric_limits<int>::max());
    std::size_t pivot = 0;
    for (std::size_t i = 0; i < (all ? vertices_ : pivots_of_large); ++i) {
      if (all) pivot = i;
      pivots_.push_back(pivot);
      distances_.push_back(distances_from(pivot));
      for (std::size_t v = 0; v < vertices_; ++v) {
        nearest[v] = std::min(nearest[v], distances_.back()[v]);
        if (!all && nearest[v] > nearest[pivot]) pivot = v;
      }
    }
    starts_ = all ? 24 : 1;
    sweeps_ = all ? 220 : 60;
  }

  std::vector<Point> best() {
    std::vector<Point> best;
    double least = std::numeric_limits<double>::infinity();
    for (int start = 1; start <= starts_; ++start) {
      std::vector<Point> places = majorise(static_cast<std::uint32_t>(start));
      const double cost = starts_ == 1 ? 0 : price(places);
      if (cost < least) least = cost, best = std::move(places);
    }
    if (starts_ > 1) clear(best);
    return turned(std::move(best));
  }

 private:
  static constexpr std::size_t most_exact = 128, pivots_of_large = 8;
  static constexpr int most_widenings = 8, pushes = 80;
  static constexpr double widening = 1.12;

  /// Nodes give way to links that are not theirs; where they cannot, the whole grows.
  void clear(std::vector<Point>& places) const {
    for (int wider = 0; wider <= most_widenings; ++wider) {
      if (wider > 0) {
        for (Point& place : places) place = widening * place;
      }
      for (int push = 0; push < pushes; ++push) {
        if (!push_apart(places)) return;
      }
    }
  }
  /// \returns whether anything was too near
  bool push_apart(std::vector<Point>& places) const {
    const double from_link = 0.235 * ideal_, from_node = 0.4 * ideal_;
    bool near = false;
    for (std::size_t v = 0; v < vertices_; ++v) {
      for (std::size_t w = 0; w < v; ++w) {
        const Point apart = places[v] - places[w];
        const double length = std::max(1e-9, std::hypot(apart.x, apart.y));
        if (length >= from_node) continue;
        near = true;
        const Point by = 0.51 * (from_node - length) / length * apart;
        places[v] = places[v] + by, places[w] = places[w] - by;
      }
      for (const auto& [a, b] : links_) {
        const auto i = static_cast<std::size_t>(a), j = static_cast<std::size_t>(b);
        if (i == v || j == v) continue;
        const double off = distance(places[v], places[i], places[j]);
        if (off >= from_link) continue;
        near = true;
        const Point along = places[j] - places[i];
        const double length = std::max(1e-9, std::hypot(along.x, along.y));
        const double side = cross(along, places[v] - places[i]) < 0 ? -1 : 1;
        const double by = side * (from_link - off + 0.01 * ideal_) / length;
        const Point away{-by * along.y, by * along.x};
        places[v] = places[v] + 0.5 * away;
        places[i] = places[i] - 0.25 * away, places[j] = places[j] - 0.25 * away;
      }
    }
    return near;
  }

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

  std::vector<Point> majorise(std::uint32_t seed) const {
    std::uint32_t state = seed;
    const auto random = [&] {
      state = state * 1664525U + 1013904223U;
      return static_cast<double>(state >> 8) / 16777216.0;
    };
    const double spread = ideal_ * std::sqrt(static_cast<double>(vertices_));
    std::vector<Point> places(vertices_);
    for (Point& place : places) place = {spread * random(), spread * random()};
    for (int sweep = 0; sweep < sweeps_; ++sweep) {
      for (std::size_t v = 0; v < vertices_; ++v) {
        double weights = 0;
        Point sum;
        const auto pull = [&](std::size_t w, int hops) {
          if (w == v || hops <= 0) return;
          const double wanted = ideal_ * hops, weight = 1 / (wanted * wanted);
          const Point apart = places[v] - places[w];
          const double length = std::max(1e-9, std::hypot(apart.x, apart.y));
          sum = sum + weight * (places[w] + wanted / length * apart);
          weights += weight;
        };
        for (std::size_t i = 0; i < pivots_.size(); ++i) pull(pivots_[i], distances_[i][v]);
        if (vertices_ > most_exact) {
          for (const std::int32_t w : neighbours_[v]) pull(static_cast<std::size_t>(w), 1);
        }
        if (weights > 0) places[v] = 1 / weights * sum;
      }
    }
    return places;
  }

  static double cross(Point a, Point b) { return a.x * b.y - a.y * b.x; }
  static double distance(Point p, Point a, Point b) {
    const Point ab = b - a, ap = p - a;
    const double t = std::clamp(
        (ap.x * ab.x + ap.y * ab.y) / std::max(1e-9, ab.x * ab.x + ab.y * ab.y), 0.0, 1.0);
    const Point off = ap - t * ab;
    return std::hypot(off.x, off.y);
  }

  double price(const std::vector<Point>& places) const {
    double stress = 0, nearest = 1;
    for (std::size_t v = 0; v < vertices_; ++v) {
      for (std::size_t w = 0; w < v; ++w) {
        const double wanted = ideal_ * distances_[v][w];
        const Point apart = places[v] - places[w];
        const double off = std::hypot(apart.x, apart.y) / wanted - 1;
        stress += off * off;
      }
    }
    int crossings = 0;
    const auto at = [&](std::int32_t v) { return places[static_cast<std::size_t>(v)]; };
    for (std::size_t i = 0; i < links_.size(); ++i) {
      const auto [a, b] = links_[i];
      for (std::size_t j = 0; j < i; ++j) {
        const auto [c, d] = links_[j];
        if (a == c || a == d || b == c || b == d) continue;
        const bool apart =
            cross(at(b) - at(a), at(c) - at(a)) * cross(at(b) - at(a), at(d) - at(a)) > 0 ||
            cross(at(d) - at(c), at(a) - at(c)) * cross(at(d) - at(c), at(b) - at(c)) > 0;
        crossings += apart ? 0 : 1;
      }
      for (std::int32_t v = 0; v < static_cast<std::int32_t>(vertices_); ++v) {
        if (v != a && v != b) nearest = std::min(nearest, distance(at(v), at(a), at(b)) / ideal_);
      }
    }
    return stress + 1.2 * crossings + 60 * std::max(0.0, 0.35 - nearest);
  }

  /// Node 0 uppermost, node 1 to its right.
  static std::vector<Point> turned(std::vector<Point> places) {
    if (places.size() < 2) return places;
    Point middle;
    for (const Point place : places)
      middle = middle + 1.0 / static_cast<double>(places.size()) * place;
    const Point first = places[0] - middle;
    const double turn = -std::numbers::pi / 2 - std::atan2(first.y, first.x);
    const double c = std::cos(turn), s = std::sin(turn);
    for (Point& place : places) {
      const Point p = place - middle;
      place = {c * p.x - s * p.y, s * p.x + c * p.y};
    }
    const double mirror = places[1].x < places[0].x ? -1 : 1;
    for (Point& place : places) {
      place = {std::round(mirror * place.x * 10) / 10, std::round(place.y * 10) / 10};
    }
    return places;
  }

  std::size_t vertices_;
  const Links& links_;
  double ideal_;
  std::vector<std::vector<std::int32_t>> neighbours_;
  std::vector<std::size_t> pivots_;
  std::vector<std::vector<int>> distances_;
  int starts_ = 0, sweeps_ = 0;
};

}  // namespace

std::vector<Point> graph_places(std::int32_t vertices, const Links& links, double pitch) {
  return GraphPlacer(vertices, links, 1.62 * pitch).best();
}

}  // namespace wormcube::apps
