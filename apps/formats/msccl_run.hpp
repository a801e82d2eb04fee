// One execution of an MSCCL algorithm: which steps run, in an order that respects every wait.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/formats/msccl.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wormcube::apps {

/// A step that has run.
struct MscclEvent {
  std::uint32_t block;  ///< the thread block's number among all
  std::uint32_t step;
  std::int64_t received = -1, sent = -1;  ///< numbers of messages
  std::int64_t after = -1;                ///< the event that it waited for
};

struct MscclMessage {
  int from, to, channel;
  std::uint32_t count;
  std::int64_t sent = -1, received = -1;  ///< events
};

/// Where a thread block is.
struct MscclPlace {
  int gpu, block;
  const MscclThreadBlock* content;
  std::int64_t send_fifo, receive_fifo;  ///< -1: none
};

struct MscclRun {
  std::vector<MscclPlace> blocks;
  std::vector<MscclEvent> events;  ///< in an order in which they can happen
  std::vector<MscclMessage> messages;
  std::optional<std::string> stuck;  ///< the first thread block that waits for ever
};

/// What a FIFO holds: `operations` operations of up to `chunks` chunks each.
struct FifoLimits {
  std::size_t operations = SIZE_MAX;
  int chunks = 1 << 20;
};

/// Every thread block as far as it gets, in rounds. With limits, a step is several operations, each
/// with a message of its own: then only `stuck` is of use.
MscclRun run_msccl(const MscclAlgorithm& algorithm, FifoLimits limits = {});

}  // namespace wormcube::apps
