// How a layout is made: the families of networks share lanes, stubs and arcs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/draw/layout.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace wormcube::apps {

/// Makes one layout. First all vertices and links get their names, dimensions and slots; then the
/// family of the network decides on the places, and the places on the links' lines.
class LayoutMaker {
 public:
  LayoutMaker(const Routing& routing, bool folded);
  Layout make();

 private:
  /// The default distance between neighbours.
  static constexpr double pitch = 72;

  static Point unit(Point a) {
    const double length = std::max(1e-9, std::hypot(a.x, a.y));
    return {a.x / length, a.y / length};
  }
  /// The right-hand side of a traveller in this direction; y goes down.
  static constexpr Point right_of(Point direction) { return {-direction.y, direction.x}; }

  // Vertices and links.

  void make_vertices();
  std::int32_t vertex(int d, Rank line, Rank in_factor) const;
  void make_lanes(const Routing& routing);
  static bool closes(const Graph& factor, Rank from, Rank to);
  static bool goes_plus(const Graph& factor, Rank from, Rank to);

  // Lines of links.

  Point& place(std::int32_t v) { return result_.places[static_cast<std::size_t>(v)]; }
  /// Half a vertex's side.
  double reach(std::int32_t v) const {
    return v < result_.nodes ? result_.radius : 0.72 * result_.radius;
  }

  /// On the right-hand side of the line between two vertices.
  void straight(Lane& lane);
  /// A line that leaves in one direction and arrives from another.
  void stubs(Lane& lane, Point leaving, Point outside_receiver, double length, double start);
  void number_stub(std::int32_t at, std::int32_t partner, Point direction);
  const std::string& name(std::int32_t v) const {
    return result_.names[static_cast<std::size_t>(v)];
  }

  /// A flat curve beside the line of nodes, for complete graphs and graphs laid in a row.
  /// \param away  the side on which it lies
  void arc(Lane& lane, int distance, Point away);
  /// A link of a complete graph on a circle, bent inwards to pass the nodes beside its ends.
  void chord(Lane& lane, Rank count);

  // Graphs and networks of one dimension.

  void as_graph();
  void one_dimension(int d);
  double circle_radius(Rank count) const;
  void on_circle(Rank count, Rank first, Rank end);
  void circle(int d);
  void folded_row(int d);
  static Rank folded(Rank i, Rank n) { return 2 * i < n ? 2 * i : 2 * (n - 1 - i) + 1; }

  void row_or_snake(int d, bool closed);
  void tree(int d);

  // Planes of two dimensions.

  struct Axis {
    int d = -1;
    Shape shape = Shape::line;
    Rank size = 1;
    double pitch = 0;
  };
  bool has_arcs(const Axis& axis) const;
  bool has_stubs(const Axis& axis) const;
  Axis axis(int d) const { return {d, topology_.factor(d).shape(), topology_.size(d), pitch_}; }
  double position(const Axis& axis, Rank coordinate) const;
  /// The places of one plane, its first node at a corner.
  void put_plane(const Axis& rows, const Axis& columns, Point corner, Rank base);
  /// A lane inside a plane along one of its axes. \param along  where coordinates grow
  void in_plane(Lane& lane, const Axis& axis, Point along);
  void grid();
  /// Space for arcs, across the axis that has them.
  void spread(Axis& rows, Axis& columns) const;
  void number_borders(const Axis& rows, const Axis& columns, Point corner, Rank base);

  // Three dimensions and more: planes of the last two, numbered by the others.

  struct PlaneSizes {
    double across, down;               // distance between planes
    double left, right, above, below;  // the frame's margins around the nodes' middles
  };
  /// \param inner  the width and height of a plane, between the middles of its outermost nodes
  void place_planes(Rank count, Point inner, const PlaneSizes& sizes,
                    const std::function<void(Rank plane, Point corner)>& put,
                    const std::function<std::string(Rank plane)>& caption);
  /// Links between planes: short stubs at 45 degrees, two dimensions of them; the others are ticks.
  void between_planes(Lane& lane, int outer, bool plus, bool complete);
  /// Where both lanes of a slanted stub touch a node's round corner, in half sides.
  static constexpr double corner_reach = 1.11;
  double corner_stub() const {
    return tick_ + (std::numbers::sqrt2 - corner_reach) * result_.radius;
  }
  void shrink(double factor, double radius, double offset);
  void planes();

  // Hypercubes.

  void name_cube_nodes();
  void nested_squares();
  void gray_planes();

  // The whole.

  void describe();
  void bound();

  const Topology& topology_;
  bool folded_;
  std::vector<int> real_;                   // dimensions with more than one node
  std::vector<std::int32_t> first_switch_;  // for each dimension
  double pitch_ = pitch, stub_ = 0.36 * pitch, tick_ = 0.17 * pitch, thin_offset_ = 5;
  Layout result_;
};

}  // namespace wormcube::apps
