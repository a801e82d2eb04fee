// Phases that broadcasts on tori consist of: peeled, quartered and squeezed axes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/broadcast/itinerary.hpp"

#include <vector>

namespace wormcube {

/// The phases along the last axes, down to axis `lowest`.
void peel(Itinerary& itinerary, int lowest);
int peel_steps(std::span<const Rank> sizes, int lowest);

/// Whether the first two axes are a square that can be quartered.
bool can_quarter(std::span<const Rank> sizes);
/// The phase along the first two axes.
void quarter(Itinerary& itinerary);
int quarter_steps(std::span<const Rank> sizes);

/// The virtual torus for these axes that takes the fewest steps.
struct VirtualTorus {
  std::vector<Rank> sizes;
  int steps = 0;  // including the cells'
};
VirtualTorus best_virtual_torus(std::span<const Rank> sizes);
/// The phases on a virtual torus and inside its cells.
void squeeze(Itinerary& itinerary, const VirtualTorus& virtual_torus);

}  // namespace wormcube
