// Still pictures of steps for print and for the gallery, which look like the page.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/draw/layout.hpp"
#include "wormcube/apps/draw/marks.hpp"
#include "wormcube/apps/draw/step.hpp"

#include <string>
#include <vector>

namespace wormcube::apps {

/// The network with the worms of a step on their whole paths; shared links are bands with their
/// load.
/// \param most_bytes  the run's largest message, drawn as the widest worm
/// \param titles      worms and bands have tool tips
/// \param held        the share of its result that each node has when the step begins, shown as a
///                    bar; nullptr: no bars
Marks step_marks(const Layout& layout, const Routing& routing, const DrawnStep& step,
                 Bytes most_bytes, bool titles = false, const std::vector<double>* held = nullptr);
/// The network alone.
Marks network_marks(const Layout& layout);
/// Links by their traffic over all steps: bytes, and the most messages in a step.
struct LinkTotals {
  std::vector<std::uint64_t> bytes;
  std::vector<int> most;
};
LinkTotals link_totals(const Schedule& schedule, const Routing& routing);
Marks totals_marks(const Layout& layout, const LinkTotals& totals);

/// One picture with a caption line above it.
struct Still {
  std::string head, caption;  ///< "step 2", " two hops · 64 worms of 32 blocks · load 1"
  Marks marks;
  Point corner, size;
};
/// A sample line, in several colours or dashed, and what it means.
struct LegendEntry {
  std::string text;
  std::vector<Colour> colours;
  std::vector<double> dash = {};
};
/// Draws entries one after the other in lines of a width; returns their height.
double draw_legend(const std::vector<LegendEntry>& entries, Point at, double width, double font,
                   Marks& marks);
/// A table row: its name, then its cells.
using TableRow = std::vector<std::string>;
/// Title, figures, and pictures in two columns.
struct Sheet {
  std::string title, below, foot;
  std::vector<TableRow> figures;  ///< the first row: the heads
  std::vector<Still> pictures;
  std::vector<LegendEntry> legend = {};
  bool bare = false;  ///< only the pictures and the legend, for a document that has a caption
};
/// One cropped picture.
std::string sheet_svg(const Sheet& sheet);

}  // namespace wormcube::apps
