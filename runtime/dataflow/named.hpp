// Text 2: a schedule that says which values each message carries, read, written and proved.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/dataflow/values.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube {

/// The operation that a file names, as it is written; the runtime does not know operations.
struct NamedOperation {
  std::string name;
  std::optional<Rank> root = {};
  std::optional<std::int64_t> by = {};
  std::vector<Rank> sources = {};
  std::string permutation = {};
};

/// The values of one node's messages and combinations.
struct RankNames {
  std::vector<NamedValue> values = {};   // of all messages that name some
  std::vector<std::uint32_t> ends = {};  // for each of RankLog::ops: its values end here
  std::vector<bool> named = {};          // for each of RankLog::ops: whether it names its values
  struct Pair {
    NamedValue left, right;
  };
  std::vector<Pair> pairs = {};  // of all gaps
  struct Gap {
    std::size_t step;  // the step after it; the number of steps: `end`
    std::size_t end;   // into pairs
    Bytes bytes;
  };
  std::vector<Gap> gaps = {};  // those that name what they combine, ascending

  std::span<const NamedValue> of(std::size_t op) const {
    const std::size_t begin = op == 0 ? 0 : ends[op - 1];
    return std::span(values).subspan(begin, ends[op] - begin);
  }
};

/// A schedule with the values that its messages carry.
struct NamedSchedule {
  Schedule schedule;
  Words words;
  ValueForm form = {};
  std::optional<NamedOperation> operation = {};
  bool commutative = false;
  std::vector<std::string> about = {};
  std::vector<RankNames> names = {};  // one for each rank
  /// Lines of nodes that have ended: (step, node).
  std::vector<std::pair<std::size_t, Rank>> after_end = {};
};

/// What the reader asks about the operation that a file names. Throws UsageError for an operation
/// or arguments that do not exist on this many nodes.
struct OperationFacts {
  Rank blocks = max_nodes;      ///< the most that a node gives
  bool several_blocks = false;  ///< a node gives several blocks
  bool reduces = false;
};
using AskOperation = std::function<OperationFacts(const NamedOperation&, Rank nodes)>;

/// Whether the text is text 2: its first line with content says so.
bool is_named_schedule(std::string_view text);

/// Reads text 2 (docs/reference/schedules.md).
///
/// \param name        the file's name, for error messages
/// \param most_bytes  memory that the schedule may take; values are counted before they are made
/// Throws UsageError, "NAME:LINE: what", for any other text.
NamedSchedule parse_named_schedule(std::string_view text, std::string_view name,
                                   const AskOperation& ask,
                                   double most_bytes = 8.0 * 1024 * 1024 * 1024);

/// The canonical form: what is written is read again as it was, and written again byte by byte
/// the same. Throws UsageError with the size if it has more than `most` bytes.
std::string named_schedule_text(const NamedSchedule& schedule,
                                Bytes most = std::numeric_limits<Bytes>::max());

/// What each node gives and must end with.
struct Goal {
  std::function<Rank(Rank rank)> gives, ends_with;
  /// Block `block` of nodes first .. last-1 combined in this order; first == last: anything.
  struct Wanted {
    Rank first = 0, last = 0, block = 0;
  };
  std::function<Wanted(Rank rank, Rank block)> result;
  bool reduces = false;
  bool barrier = false;         ///< nothing is given: every node must know of every other
  bool several_blocks = false;  ///< some node gives several
};

struct NamedReport {
  /// Laws that are broken, in order, the first ten; then, if no law but the goal is missed, why.
  std::vector<std::string> findings;
  std::size_t broken = 0;  // how many laws are broken, all of them
  std::optional<bool> delivered, exactly_once;
  std::string reason;    // why `delivered` is not known
  std::string arrivals;  // the first value that came twice, or why exactly_once is not known
  /// Of reductions: some final value has its nodes in another order; all nodes that end with one
  /// result made it by the same tree of combinations.
  std::optional<bool> order_changed, brackets_alike;
};

/// The laws of values, and the proof of a goal (none: the laws alone). Ports, links and deadlock
/// freedom are those of check().
NamedReport prove_named(const NamedSchedule& schedule, const Goal* goal);

}  // namespace wormcube
