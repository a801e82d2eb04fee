// Patterns on a line, which a direct exchange on meshes combines.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/blocks.hpp"

namespace wormcube {

/// A set of a/4 disjoint patterns of four coordinates each on a line of a. A pattern sends each of
/// its coordinates to one of the four and uses no link twice. The a layers together send every
/// coordinate to every coordinate (itself too) once.
///
/// With h = a/2 the pattern of an ordered pair (i, j), i != j < h, is the cycle
/// j -> i -> j+h -> i+h -> j. The pairs come from a factorisation of the complete graph of h
/// vertices into h-1 perfect matchings, two layers for each. The last two layers, from the first
/// matching, hold {i <-> i+h, and j, j+h to themselves} and the same with i and j exchanged.
struct ScottLayer {
  Rank size;   // a, a multiple of 4
  Rank layer;  // 0 .. a-1

  /// The pattern that coordinate x is in, 0 .. a/4-1.
  Rank pattern(Rank x) const;
  /// Where its pattern sends x.
  Rank target(Rank x) const;
  /// The coordinate that is sent to x; patterns are cycles of length 4, 2 or 1.
  Rank source(Rank x) const { return target(target(target(x))); }

 private:
  Rank matched(Rank v) const;
};

}  // namespace wormcube
