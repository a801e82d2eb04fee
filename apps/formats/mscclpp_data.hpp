// What the memory of an MSCCL++ plan holds while it runs: the chunks, who reads and writes them,
// and the messages that this makes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/formats/chunk_machine.hpp"
#include "wormcube/apps/formats/mscclpp.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace wormcube::apps {

/// What a lane of execution has seen: for each lane, how much of it came before; the last step of a
/// message that it needs, and the last of a message that it has sent.
struct PlanClock {
  LaneTimes times;
  std::int64_t needed = -1, sent = -1;

  void join(const PlanClock& other);
};

/// The place of an operation in the plan.
struct PlanPlace {
  int gpu = 0, block = 0;
  const PlanOperation* what = nullptr;
};
/// "tb 0 step 3.1 (put)"
std::string step_text(const PlanPlace& place);

/// The data flow.
class PlanData {
 public:
  explicit PlanData(const MscclppPlan& plan);

  const ChunkMachine& machine() const { return machine_; }
  /// The first cell that a packet operation would have to wait for; nothing: none.
  std::optional<std::size_t> missing_packets(int gpu, const PlanOperation& what) const;
  /// What an operation reads, combines and writes.
  ///
  /// \param lane    the lane that does it, and its clock
  /// \param packet  the clock of this operation, for those who read its packets
  void follow(const PlanPlace& place, std::uint32_t lane, PlanClock& clock,
              const std::shared_ptr<const PlanClock>& packet);
  /// Whether the operation reads packets: the clocks that it then joins.
  void join_packets(const PlanPlace& place, PlanClock& clock) const;
  /// What outputs must hold. Joins the messages of a step from one GPU to another.
  void finish();

  bool mixes_packets() const { return mixes_packets_; }
  bool uses_switch() const { return uses_switch_; }
  /// The plan in text 2; \param named  messages have names, and combinations are there
  NamedSchedule lay(bool named) const;
  /// By step, sender and receiver. Values appear once in each.
  const std::vector<ChunkMachine::Message>& messages() const { return messages_; }

 private:
  class Operation;
  void join_messages();

  const MscclppPlan& plan_;
  ChunkMachine machine_;
  std::vector<ChunkMachine::Message> messages_;
  std::vector<std::int64_t> last_in_, last_out_;  // of each lane: the step of its last message
  bool mixes_packets_ = false, uses_switch_ = false;
};

/// Whether an operand of a type is packets.
bool reads_packets(const PlanOperation& what, std::size_t source);
bool writes_packets(const PlanOperation& what, std::size_t target);

}  // namespace wormcube::apps
