// What is drawn over a step's picture: the algorithm's sets of nodes, and what messages carry and
// nodes hold.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/draw/still.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

#include <string>
#include <vector>

namespace wormcube::apps {

/// A coloured edge around the nodes of each set, and a dashed frame around each cell whose nodes lie
/// together.
Marks overlay_marks(const Layout& layout, const NodeSets& sets);
/// Around the nodes of a cell.
struct CellFrame {
  Point corner, size;
};
std::vector<CellFrame> cell_frames(const Layout& layout, const NodeSets& sets);
/// What the colours mean. The frames have an entry if there are cells.
std::vector<LegendEntry> overlay_legend(const NodeSets& sets);

/// Networks with more nodes than this get no labels.
inline constexpr Rank most_labelled_nodes = 256;

/// A step's picture, enlarged until the labels have room: DrawnMessage::label on each worm, a label
/// below each node. Long ones end with "..".
/// \param picture  of the step on this layout
/// \param nodes    by rank; empty strings are left out
Marks labelled(Marks picture, const Layout& layout, const Routing& routing, const DrawnStep& step,
               const std::vector<std::string>& nodes);

}  // namespace wormcube::apps
