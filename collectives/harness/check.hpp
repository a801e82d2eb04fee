// Checking an algorithm on a network: recorded dry, counted, compared with its formulas, proved.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/registry.hpp"
#include "wormcube/runtime/schedule/check.hpp"

#include <optional>
#include <string>

namespace wormcube {

struct CheckOptions {
  /// The machine that is assumed: one message per link at a time, or one per node.
  bool all_port = false;
  int virtual_channels = 2;  ///< per ring link
  /// Nodes; on more of them a broadcast is proved from its schedule, other operations are not.
  Rank prove_up_to = 4096;
  std::uint64_t seed = 1;  ///< of uneven block sizes
};

/// What was counted, what the formulas say, and what was proved. What was not measured is empty.
struct CheckResult {
  const Algorithm* algorithm = nullptr;
  std::string topology;
  Rank nodes = 0;
  bool all_port = false;
  Bytes block_bytes = 0;  ///< of the dry run: the unit of everything in blocks

  ScheduleReport report;  ///< in bytes of the dry run
  double transmission_blocks = 0, rearranged_blocks = 0, total_blocks = 0, block_hops = 0;
  /// Most blocks that one node holds: its result, or what the algorithm holds meanwhile if more.
  double peak_blocks = 0;
  /// Most blocks that the algorithm holds beside the call's input and output.
  double working_blocks = 0;

  Prediction predicted;
  LowerBound lower_bound;

  std::optional<bool> delivered;     ///< every block is where it belongs
  std::optional<bool> exactly_once;  ///< and nothing in its place has come from elsewhere
  std::string proof;                 ///< how it was proved, or why it was not

  /// Laws and formulas that do not hold, in words.
  std::vector<std::string> failures;
  bool passed() const { return failures.empty(); }
};

/// Throws UsageError if the algorithm does not run on this network, or the dry run alone needs more
/// memory than there is.
CheckResult check_collective(const Algorithm& algorithm, const Topology& topology,
                             const Parameters& parameters, const CheckOptions& options = {});

/// Whether a broadcast's schedule reaches every node: in each message the whole block, from a node
/// that has it.
/// \param exactly_once  set to whether nobody received it twice
std::optional<bool> broadcast_reaches_all(const Schedule& schedule, Rank root, Bytes block_bytes,
                                          bool& exactly_once);

}  // namespace wormcube
