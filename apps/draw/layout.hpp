// Where a network's nodes and links lie in a picture: one layout for the page, stills and print.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/routing.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace wormcube::apps {

/// In user units: one is a pixel at scale 1; y goes down.
struct Point {
  double x = 0, y = 0;
  friend bool operator==(const Point&, const Point&) = default;
};
constexpr Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
constexpr Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
constexpr Point operator*(double f, Point a) { return {f * a.x, f * a.y}; }

/// One directed link. A cable is two lanes, and worms drive on the right.
struct Lane {
  std::int32_t from = 0, to = 0;  ///< vertices: nodes, then switches
  int dimension = 0;
  /// The outgoing link's name, which is the same at every node: a sign, a displacement, or a port.
  int slot = 0;
  bool dateline = false;  ///< from this link on, a worm holds virtual channel 1 of the dimension
  bool thin = false;      ///< in a complete graph: narrow, or hidden if idle
  bool tick = false;      ///< a short line at a node's edge in the dimension's colour
  /// From the sender's edge to the receiver's.
  std::vector<Point> points = {};
  /// The number of points before the gap of a link drawn as two stubs; 0: no gap.
  std::size_t gap = 0;
};

struct Label {
  Point at;
  std::string text;
  double size = 9.5;
  int anchor = 0;  ///< -1 starts there, 0 is centred, 1 ends there
  bool strong = false;
};
struct Frame {
  Point corner, size;
  std::string caption;
};

struct Layout {
  std::string network;
  int dimensions = 1;
  std::int32_t nodes = 0;
  std::vector<Point> places;               ///< of all vertices
  std::vector<std::string> names;          ///< of all vertices
  std::vector<std::vector<Rank>> factors;  ///< for coordinates: the sizes
  std::vector<Lane> lanes;                 ///< link by link
  std::vector<Label> labels;               ///< at stubs and borders
  std::vector<Frame> frames;               ///< planes
  double pitch = 72;                       ///< distance between neighbours in a grid
  double radius = 14, lane = 3, offset = 5;
  double number_size = 11.5;  ///< font size of the nodes' names; 0: not drawn
  bool large = false;         ///< more than 256 nodes
  Point corner, size;         ///< the picture's bounds, with its margin
  std::string shape;          ///< for screen readers: "torus 8 by 8"
};

/// Networks with more links than this have no picture.
inline constexpr std::int64_t most_drawn_links = 100'000;

/// Throws UsageError, with both numbers, for a network with too many links. Call it before long
/// work.
void require_drawable(const Topology& topology);

/// \param folded  rings in the order 0 2 4 .. 5 3 1, so that all links are short
/// Throws UsageError, with both numbers, for a network with too many links.
Layout layout(const Routing& routing, bool folded = false);

/// Places of an arbitrary graph's vertices, by stress majorisation. Deterministic.
/// \param links  pairs of vertices, each once
std::vector<Point> graph_places(std::int32_t vertices,
                                const std::vector<std::pair<std::int32_t, std::int32_t>>& links,
                                double pitch);

}  // namespace wormcube::apps
