// Groups: ordered sets of ranks, as pure functions on lists.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <span>
#include <vector>

namespace wormcube::mpi {

/// The members' ranks in the world, in the group's order; none twice.
using Members = std::vector<Rank>;

/// first, last, stride: last need not be reached.
struct RankRange {
  int first, last, stride;
};

// All throw Failure: MPI_ERR_RANK for a rank out of range or listed twice, MPI_ERR_ARG for a stride
// of 0.

/// The members with these ranks, in this order.
Members included(const Members& group, std::span<const int> ranks);
/// All other members, in the group's order.
Members excluded(const Members& group, std::span<const int> ranks);
/// The ranks in these ranges, one after another.
std::vector<int> ranks_of(std::span<const RankRange> ranges);

/// The members of the first group, then those that only the second has.
Members group_union(const Members& first, const Members& second);
/// The members that both groups have, and those that only the first has.
Members group_intersection(const Members& first, const Members& second);
Members group_difference(const Members& first, const Members& second);

/// MPI_IDENT, MPI_SIMILAR (another order) or MPI_UNEQUAL.
int compared(const Members& first, const Members& second);
/// Each rank's number in the other group; MPI_UNDEFINED if it is not a member. PROC_NULL stays
/// PROC_NULL.
std::vector<int> translated(const Members& from, std::span<const int> ranks, const Members& to);

}  // namespace wormcube::mpi
