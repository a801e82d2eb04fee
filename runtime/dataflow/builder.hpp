// Makes named schedules: message by message, or from a schedule whose messages get names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/dataflow/named.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace wormcube {

class NamedBuilder {
 public:
  /// The values of a message; nothing: it does not name them.
  using Values = std::optional<std::span<const NamedValue>>;

  /// \param header  without messages, which add() or message() adds; or with those of all ranks:
  /// then name() names them, and finish() leaves the rest unnamed
  explicit NamedBuilder(NamedSchedule header);

  /// What is made so far.
  NamedSchedule& made() { return named_; }

  /// The next step, of all nodes that have taken each step before.
  void begin_step();
  /// The node does not take the step that has begun, nor a later one.
  void end(Rank node) { log(node).step_ends.pop_back(); }
  /// Adds a send or a receive to the step that has begun. \param moves  of the message
  void add(Rank node, OpRecord op, Values values, std::span<const Move> moves = {});
  /// Adds both ends of a message.
  void message(Rank from, Rank to, Tag tag, Bytes bytes, Values values);
  /// Names the next message in a node's log.
  void name(Rank node, Values values);
  /// Combinations of a node before a step; steps ascend, and the last is the number of all steps.
  /// \param bytes  that they combine
  void combine(Rank node, std::size_t step, std::span<const RankNames::Pair> pairs, Bytes bytes);

  /// Leaves this builder empty.
  NamedSchedule finish();

 private:
  RankLog& log(Rank node) { return named_.schedule.ranks[static_cast<std::size_t>(node)]; }
  RankNames& names(Rank node) { return named_.names[static_cast<std::size_t>(node)]; }

  NamedSchedule named_;
  std::size_t steps_ = 0;  // that have begun
};

/// A schedule of sizes alone: no message has a name.
NamedSchedule without_names(Schedule schedule);

/// Gives messages and combinations the sizes of what they name.
/// \return  by how many bytes a message changes, at most
Bytes size_by_names(NamedSchedule& named);

}  // namespace wormcube
