// Rounds: the steps that the messages of a run fall into.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/rank.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace wormcube::mpi {

/// The stamps of a message's two ends (Observers::stamp).
struct MessageEnds {
  Rank from = 0, to = 0;
  std::uint64_t sent = 0, send_ended = 0;  ///< send_ended 0: it has not ended
  std::uint64_t posted = 0, received = 0;
  bool waits = false;      ///< the send completes only when it is received
  bool is_access = false;  ///< there is no receive
};

/// A moment of a rank between its messages.
struct RankMoment {
  Rank rank = 0;
  std::uint64_t stamp = 0;
  std::uint32_t round = 0;  ///< the last one that the rank has completed by then
};

/// The rounds of messages, from 1. A message is in a later round than every message that its sender
/// had received before the send, or its receiver before the receive was posted, or whose receive
/// either had waited for. Messages sent or posted in between are in the same round.
///
/// \param moments  get their rounds
std::vector<std::uint32_t> rounds_of(std::span<const MessageEnds> messages, Rank ranks,
                                     std::span<RankMoment> moments = {});

}  // namespace wormcube::mpi
