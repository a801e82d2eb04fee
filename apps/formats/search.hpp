// Whether a schedule of sizes alone can perform an operation: a search for the blocks that its
// messages could carry.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/dataflow/named.hpp"

#include <optional>
#include <string>

namespace wormcube::apps {

struct Searched {
  enum class Answer { can, cannot, open } answer = Answer::open;
  std::string text;  ///< "can deliver", "cannot: node 3 gets 8 bytes and needs 24", "not decided"
  /// A schedule of the same messages that delivers; sizes are those of the blocks that they carry.
  std::optional<NamedSchedule> witness = {};
};

/// Each message carries as many whole blocks as fit into it. Finds an answer for up to 12 nodes and
/// 64 messages, and for operations that only move blocks.
///
/// \param operation  for the witness
Searched search_contents(const Schedule& schedule, const Goal& goal,
                         const NamedOperation& operation, Bytes block_bytes);

/// The largest size of a block of which all messages carry whole ones.
Bytes common_block_bytes(const Schedule& schedule);

}  // namespace wormcube::apps
