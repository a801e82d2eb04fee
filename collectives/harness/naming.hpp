// The values that an algorithm's messages carry, found by a run with marked blocks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/runtime/dataflow/named.hpp"

namespace wormcube {

/// The schedule of a call with blocks of this many bytes, with the names of all values: a run in
/// which every element remembers what was combined in it says which. The names are proved before
/// they are returned. A file cuts all blocks by one rule: where the algorithm cuts elsewhere (parts
/// of parts, whole words), the messages have the sizes of what they name, and a second `about` says
/// by how much they differ from the call's.
///
/// Throws UsageError if the proof finds that the names are not the schedule's: which messages there
/// are depends on the blocks' sizes, or some data is no block.
NamedSchedule named_call(const Collective& collective, const Topology& topology, Bytes block_bytes,
                         bool in_place);

}  // namespace wormcube
