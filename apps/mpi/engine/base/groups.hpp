// Groups: ordered sets of ranks, as pure functions on lists.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <span>
#include <vector>

namespace wormcube::mpi {

/// The members' ranks in the world, in the group's order; none twice.
using Members = std::vector<Rank>;

/// first, last, stride: last need not be met.
struct RankRange {
  int first, last, stride;
};

// All throw Failure: MPI_ERR_RANK for what is no rank of the group or named twice, MPI_ERR_ARG for
// a stride of 0.

/// The members of these ranks, in this order.
Members included(const Members& group, std::span<const int> ranks);
/// All others, in the group's order.
Members excluded(const Members& group, std::span<const int> ranks);
/// The ranks that ranges name, one after the other.
std::vector<int> ranks_of(std::span<const RankRange> ranges);

/// The first's, then those of the second that the first has not.
Members group_union(const Members& first, const Members& second);
/// The first's that the second has too, and that it has not.
Members group_intersection(const Members& first, const Members& second);
Members group_difference(const Members& first, const Members& second);

/// MPI_IDENT, MPI_SIMILAR (another order), MPI_UNEQUAL.
int compared(const Members& first, const Members& second);
/// The rank of each in the other group; MPI_UNDEFINED where it is no member. PROC_NULL stays
/// PROC_NULL.
std::vector<int> translated(const Members& from, std::span<const int> ranks, const Members& to);

}  // namespace wormcube::mpi
