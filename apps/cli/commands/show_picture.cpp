// wormcube show --svg: the worms of a step, sets of nodes, labels.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/commands/show_picture.hpp"

#include "wormcube/apps/draw/overlay.hpp"
#include "wormcube/apps/draw/still.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/core.h>

namespace wormcube::cli {

std::string step_svg(const apps::DrawnStep& step, const Routing& routing, const NodeSets* sets,
                     const std::vector<std::string>* nodes) {
  const apps::Layout layout = apps::layout(routing);
  Bytes most = 1;
  for (const apps::DrawnMessage& message : step.messages) most = std::max(most, message.bytes);
  apps::Marks marks = apps::step_marks(layout, routing, step, most, true);
  if (sets != nullptr) {
    std::ranges::move(apps::overlay_marks(layout, *sets), std::back_inserter(marks));
    const double width = std::max(300.0, layout.size.x);
    apps::draw_legend(apps::overlay_legend(*sets), layout.corner + apps::Point{0, layout.size.y},
                      width, 10.5, marks);
  }
  if (nodes != nullptr) marks = apps::labelled(std::move(marks), layout, routing, step, *nodes);
  return apps::cropped_svg(
      marks, {.title = fmt::format("{}, step {}{}{}", routing.topology().name(), step.step,
                                   step.phase.empty() ? "" : ": ", step.phase)});
}

}  // namespace wormcube::cli
