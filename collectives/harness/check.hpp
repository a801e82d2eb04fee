// Checks an algorithm on a network: dry-runs it, counts, compares with predictions, proves.
//
// Threads  any number of threads may call these functions at the same time. They share the
//          registry, to which none may add meanwhile. A call runs the algorithm on threads of its
//          own, too: what an algorithm shares between nodes is its own concern.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/memory.hpp"
#include "wormcube/runtime/schedule/check.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace wormcube {

struct Contract;

struct CheckOptions {
  /// The assumed machine: one message per link at a time, or one per node.
  bool all_port = false;
  int virtual_channels = 2;  ///< per ring link
  bool in_place = false;     ///< the input lies in the output, where the operation offers it
  /// Nodes; with more of them a broadcast is proved from its schedule, other operations are not
  /// proved.
  Rank prove_up_to = 4096;
  /// The same in messages: a proof moves them one at a time, fewer than a million a second.
  std::int64_t prove_messages = 40'000'000;
  /// More pieces of messages in the dry run are refused.
  std::int64_t record_pieces = most_recorded_pieces;
  std::uint64_t seed = 1;  ///< of uneven block sizes
  /// The call's block size, for operations whose blocks differ in size: they are counted with it,
  /// and their proof has sizes of its own. Others are counted in whole blocks.
  std::optional<Bytes> block_bytes = {};
};

/// What was counted, predicted and proved. Values that were not measured are empty.
struct CheckResult {
  Collective collective;
  std::string topology;
  Rank nodes = 0;
  bool all_port = false;
  Bytes block_bytes = 0;  ///< in the counted dry run: the unit of everything in blocks

  ScheduleReport report;  ///< in bytes of that dry run
  double transmission_blocks = 0, rearranged_blocks = 0, combined_blocks = 0, total_blocks = 0,
         block_hops = 0, link_blocks = 0, injected_blocks = 0;
  /// Most blocks that one node holds: its result, or what the algorithm holds meanwhile if more.
  double peak_blocks = 0;
  /// Most blocks that the algorithm holds besides the call's input and output.
  double working_blocks = 0;

  Prediction predicted;
  /// Whether there is any prediction to compare with.
  bool has_formulas() const;
  LowerBound lower_bound;
  /// Whether the start-ups equal the bound, unrounded; and whether no integer lies between. Nothing
  /// unless the bound is exact and on steps.
  std::optional<bool> bound_met() const;
  std::optional<bool> optimal() const;

  std::optional<bool> delivered;  ///< every block is where it belongs, and correct
  /// No node received the same data twice; for a reduction, the same combination of blocks.
  std::optional<bool> exactly_once;
  std::string proof;  ///< how delivery was proved, or why it was not
  /// Reductions: the result is right for an operator that does not commute, too.
  std::optional<bool> keeps_order;
  std::string order;  ///< how that was found, or why it was not
  /// Reductions: whether nodes that end with one combination end with the same bits of it, if sums
  /// are rounded; exact: the call's operator rounds nothing.
  std::optional<SameBits> same_bits;
  std::string bits;  ///< how that was found, or why it was not
  bool same_bits_claimed = false;
  std::string arrivals;  ///< how exactly_once was found, or why it was not

  /// Descriptions of the laws and predictions that do not hold.
  std::vector<std::string> failures;
  bool passed() const { return failures.empty(); }
  /// passed(); nothing if all checks hold, but delivery was not proved.
  std::optional<bool> verdict() const {
    if (!passed()) return false;
    return delivered ? std::optional(true) : std::nullopt;
  }
};

/// Counts are those of the call's own operator: the one that tracks ranks commutes if and only if
/// that one does; without an operator it does not, unless the algorithm needs it. Throws UsageError
/// if the algorithm does not apply to this network, or if the dry run alone needs more memory than
/// is available.
CheckResult check_collective(const Collective& collective, const Topology& topology,
                             const CheckOptions& options = {});

/// The schedule of a call with blocks of this many bytes, checked: its cost step by step.
ScheduleReport check_steps(const Collective& collective, const Topology& topology,
                           Bytes block_bytes, const CheckOptions& options = {});

/// The counts of a schedule, and its time if all nodes take each step together.
CallCounts counts_of(const ScheduleReport& report);
ModelTime lock_step_time(const ScheduleReport& report, const CostModel& model);

/// The pieces that check_collective() visits. Throws UsageError, with the figures, if the dry run
/// would need more memory than is available, or visit more pieces than CheckOptions::record_pieces.
MemoryNeed need_to_check(const Collective& collective, const Topology& topology,
                         const CheckOptions& options);

/// The unit of a dry run's blocks: its counts in blocks are exact.
Bytes unit_block_bytes(const Collective& collective, const Topology& topology);

/// The memory of a proof: what the nodes hold, their plans and tables, which data each has
/// received, and for each node a page or two of stack and its state: 4.1 KiB, `check broadcast --on
/// torus:64x64`, 2026-11-21.
/// \param elements  that all messages bring
double bytes_to_prove(const MemoryNeed& need, const Contract& contract, double elements);

/// Whether a broadcast's schedule reaches every node, if each message is the whole block, from a
/// node that has it.
/// \param exactly_once  set to whether no node received it twice
std::optional<bool> broadcast_reaches_all(const Schedule& schedule, Rank root, Bytes block_bytes,
                                          bool& exactly_once);

}  // namespace wormcube
