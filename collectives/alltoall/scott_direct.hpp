// Total exchange on a mesh by single blocks, in as few steps as the middle of the mesh allows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/blocks.hpp"

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

/// Total exchange (all-to-all, personalised): node r's block q ends as node q's block r.
///
/// \param out  p blocks; block q is for node q
/// \param in   p blocks; block q comes from node q
///
/// For each layer X of the columns, layer Y of the rows and shift s, pattern t of X meets pattern
/// t+s of Y, for all t at once: these are the tiles, of 4 x 4 nodes each. Node (r,c) of a tile
/// sends one block to (Y(r), X(c)).
///
/// Network   mesh R x C, both multiples of 4; one-port, full duplex.
/// Cost      RC max(R,C) / 4 start-ups of one block: the bisection bound, so the optimum for single
///           blocks sent directly.
/// Links     tiles share no row and no column; in a tile rows run patterns of X, columns of Y.
/// Source    the bound: D. S. Scott, Efficient All-to-All Communication Patterns in Hypercube and
///           Mesh Topologies, DMCC 1991. The construction is ours.
/// Throws    UsageError, before any message, for other networks or buffers that are not p blocks of
///           one size.
void alltoall_scott_direct(Node& node, ConstBlocks out, Blocks in);

}  // namespace wormcube
