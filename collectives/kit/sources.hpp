// The sources of k-to-all operations, the targets of their duals, and their places in a hypercube.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/kit/pattern_load.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace wormcube {

/// The sources of a call, ascending.
std::span<const Rank> sources_of(const Arguments& arguments);

/// Nodes per source of a call: of its subcube, if the sources have a Placement.
Rank nodes_to_a_source(const Setting& setting);

/// The number of a node among the sources; -1 if it is not one.
Rank number_of(std::span<const Rank> sources, Rank rank);
/// How many sources are among the nodes 0 .. rank-1, for rank = 0 .. p.
std::vector<Rank> sources_before(std::span<const Rank> sources, Rank p);

/// How k = 2^j sources split a cube of p = 2^d nodes: j bits of the label in which every value
/// occurs in exactly one source. So each of the k subcubes spanned by the other bits has its own
/// source.
struct Placement {
  Rank p, columns;             // columns: the mask of those bits
  std::vector<Rank> by_value;  // the source with each value of them

  Rank rows() const { return (p - 1) & ~columns; }
  Rank source_of(Rank node) const;  // of its subcube
  /// A node's number in its subcube, counted from the source: the bits of rows() in which they
  /// differ.
  Rank row(Rank node) const;
  /// The node with this number in the same subcube.
  Rank with_row(Rank node, Rank row) const;
  /// When halves of a subcube are scattered from its source, or gathered: the number of rows from
  /// `row` on whose data pass through the node of `row`, its own included. None through the source
  /// (row 0), where they begin or end.
  static Rank passes_through(Rank row) { return row & -row; }
};
/// The lowest bits that qualify; nothing if none do, or if k is not a power of 2.
std::optional<Placement> placement(std::span<const Rank> sources, Rank p);
/// The same; throws UsageError with an alternative.
Placement require_placement(std::string_view algorithm, std::span<const Rank> sources, Rank p,
                            std::string_view instead);

/// Gathers the bits of x under a mask; spreads bits over a mask.
Rank gather_bits(Rank x, Rank mask);
Rank spread_bits(Rank x, Rank mask);

/// The cost of p - 1 steps of one block, in the i-th of which each source and the node i ranks on
/// have a message. Nothing is rearranged, and all blocks lie in input and output. The loads are
/// known up to 2048 nodes: for more they take long to compute.
/// \param message  its direction
Prediction direct_prediction(const Setting& setting,
                             PatternMessage (*message)(Rank source, Rank other));

}  // namespace wormcube
