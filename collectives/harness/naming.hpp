// The values that an algorithm's messages carry, found by a run with marked blocks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/runtime/schedule/named.hpp"

namespace wormcube {

/// The next block size that the call's parts and elements divide: every part has one size.
Bytes nameable_block_bytes(const Collective& collective, const Topology& topology,
                           Bytes block_bytes);

/// The schedule of a call with blocks of this many bytes (nameable_block_bytes()), with the names
/// of all values: a run in which every element remembers what was combined in it says which. The
/// names are proved before they are returned.
///
/// Throws UsageError if the proof finds that they are not the schedule's: the algorithm sends parts
/// that differ with the size of its blocks, or data that is no block.
NamedSchedule named_call(const Collective& collective, const Topology& topology, Bytes block_bytes,
                         bool in_place);

}  // namespace wormcube
