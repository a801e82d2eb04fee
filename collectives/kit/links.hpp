// Link loads of simple patterns on product networks: closed forms that predictions share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <optional>

namespace wormcube {

bool is_power_of_two(Rank x);

/// Whether disjoint intervals of ranks use disjoint links: in one dimension if it is a line, ring
/// or complete network of any size, or a tree of 2^d leaves; in several if all sizes are powers of
/// 2. (Intervals of a binary division; on a ring only the first may be longer than half of it.)
bool intervals_are_apart(const Topology& topology);
/// The same in each dimension separately.
bool intervals_are_apart_by_dimension(const Topology& topology);

/// Bit `bit` of the ranks of 2^d nodes is bit `local` of the coordinate in `dimension`.
struct RankBit {
  int dimension, local;
};
RankBit rank_bit(const Topology& topology, int bit);
/// Most messages on one link when all nodes, or all of one half, send to the rank that differs in
/// this bit. Nothing in an arbitrary graph.
std::optional<double> load_across(const Topology& topology, int bit);

/// ceil(log2 size), summed over the dimensions.
double halvings(const Topology& topology);

}  // namespace wormcube
