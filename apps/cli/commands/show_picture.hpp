// One step as a picture.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/draw/step.hpp"
#include "wormcube/collectives/core/algorithm.hpp"

#include <string>
#include <vector>

namespace wormcube::cli {

/// One step as a picture, with tooltips.
/// \param sets   marked, with a legend; nullptr: none
/// \param nodes  what nodes hold; nullptr: nothing is labelled
std::string step_svg(const apps::DrawnStep& step, const Routing& routing, const NodeSets* sets,
                     const std::vector<std::string>* nodes);

}  // namespace wormcube::cli
