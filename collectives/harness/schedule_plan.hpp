// What each node does in a schedule with named values: sends, receives and combinations of slots.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/dataflow/named.hpp"

#include <cstdint>
#include <vector>

namespace wormcube {

using SlotId = std::uint32_t;

/// A place in a node's memory: the size of part `part` of block `block` of node `node`.
struct Slot {
  Rank node, block, part;
};

/// What one node does: all slots are numbers into `slots`. The first are its input.
struct SlotPlan {
  struct Message {
    bool is_send;
    Rank peer;
    Tag tag;
    std::uint32_t first_move, moves;
    Bytes bytes;                  // of a message without names
    std::uint32_t partner;        // of a receive: the number of its send in the sender's step
    std::vector<SlotId> content;  // in the order of the message
  };
  struct Combination {
    SlotId left, right, result;
  };
  struct Result {
    SlotId from;
    Rank block, part;
  };
  Rank inputs = 0;  // blocks
  std::vector<Slot> slots;
  std::vector<std::vector<Combination>> gaps;  // before each step, and after the last
  std::vector<std::vector<Message>> steps;
  std::vector<Move> moves;
  std::vector<Result> results;
};

/// The plan of each node. \pre the schedule is proved for this goal
std::vector<SlotPlan> node_plans(const NamedSchedule& named, const Goal& goal);

}  // namespace wormcube
