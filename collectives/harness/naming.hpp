// The values that an algorithm's messages carry, found by a run with marked blocks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"
#include "wormcube/collectives/harness/contract.hpp"
#include "wormcube/runtime/dataflow/named.hpp"

#include <cstddef>
#include <functional>
#include <span>

namespace wormcube {

/// What a run reports, step by step, as follow() does.
struct NamedListener {
  /// Each send and receive of a step, node by node, in the order posted; values of sends alone.
  std::function<void(std::size_t step, Rank node, const OpRecord&, std::span<const NamedValue>)>
      posted;
  std::function<void(std::size_t step)> end_step = [](std::size_t) {};
  /// Before this step of the node; not in one order with the others.
  std::function<void(Rank node, std::size_t step, const RankNames::Pair&)> combined = {};
};

/// Runs a call on blocks that name themselves.
///
/// \param schedule  of the same call
/// \param words     also get those of what is combined
/// \param sizes     blocks have as many elements as the contract's; nothing: one for each part
/// \return          whether all data in messages is values
bool run_with_names(const Collective& collective, const Schedule& schedule, bool in_place,
                    Words& words, const NamedListener& listener, const Contract* sizes = nullptr);

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
