// What the memory of an MSCCL++ plan holds while it runs: the chunks, who reads and writes them,
// and the messages that this makes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/formats/msccl_chunks.hpp"
#include "wormcube/apps/formats/mscclpp.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace wormcube::apps {

/// What a lane of execution has seen: for each lane, how much of it came before; the last step of a
/// message that it needs, and the last of a message that it has sent.
struct PlanClock {
  std::vector<std::uint32_t> times;
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

/// The cells of all buffers: GPU by GPU, input, output, scratch. In place, input and output are
/// one. A chunk has as many cells as thread block groups need.
class PlanCells {
 public:
  explicit PlanCells(const MscclppPlan& plan);
  std::size_t size() const { return starts_.back(); }
  /// The first cell of a chunk.
  std::size_t cell(int gpu, MscclBuffer buffer, int chunk) const;
  int gpu(std::size_t cell) const;
  /// "o[3]", "o[3] (part 1 of 2)"
  std::string text(std::size_t cell) const;

 private:
  const MscclppPlan& plan_;
  std::vector<std::size_t> starts_;
};

/// Accesses of cells that nothing orders.
class PlanRaces {
 public:
  explicit PlanRaces(const PlanCells& cells) : cells_(cells), last_(cells.size()) {}
  void access(std::size_t cell, std::uint32_t lane, const PlanClock& clock, const PlanPlace& place,
              bool writes);
  std::vector<std::string> texts() const;
  /// Writes into inputs and outputs that a GPU's thread blocks, at their end, have not seen: the
  /// caller may read before them.
  ///
  /// \param ends  what each GPU has seen at its end
  std::vector<std::string> late(const std::vector<PlanClock>& ends) const;

 private:
  struct Last {
    std::uint32_t lane, read = 0, written = 0;  // times; 0: never
    PlanPlace reader = {}, writer = {};
  };
  struct Race {
    PlanPlace first, second;
    bool first_writes, second_writes;
  };
  static std::tuple<int, int, int, int> order(const PlanPlace& place);
  std::string text(std::size_t cell, const PlanPlace& place, bool writes) const;

  const PlanCells& cells_;
  std::vector<std::vector<Last>> last_;  // of each cell: of each lane that touched it
  using Key =
      std::tuple<std::size_t, std::tuple<int, int, int, int>, std::tuple<int, int, int, int>>;
  std::map<Key, Race> races_;
};

/// One message: what an operation moves between the memories of two GPUs.
struct PlanMessage {
  int from, to;
  std::int64_t step;
  std::vector<NamedValue> values;
};
/// One combination, in the gap before a step.
struct PlanCombination {
  int gpu;
  std::int64_t gap;
  NamedValue left, right;
};

/// The data flow.
class PlanData {
 public:
  explicit PlanData(const MscclppPlan& plan);

  const PlanCells& cells() const { return cells_; }
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

  const std::vector<std::string>& findings() const { return findings_; }
  const std::vector<std::string>& written_inputs() const { return written_inputs_; }
  const PlanRaces& races() const { return races_; }
  bool mixes_packets() const { return mixes_packets_; }
  bool uses_switch() const { return uses_switch_; }
  /// The plan in text 2; \param named  messages have names, and combinations are there
  NamedSchedule lay(bool named) const;
  const std::vector<PlanMessage>& messages() const { return messages_; }

 private:
  struct Cell {
    NamedValue value;
    std::int64_t ready = -1;                  // the last step that the value needs
    std::shared_ptr<const PlanClock> packet;  // of the operation that wrote packets; else nothing
    bool data = false, packets = false;       // it ever held
  };
  struct Held {
    NamedValue value;
    std::int64_t ready;
  };
  class Operation;

  template <class Text>
  void find(Text text);
  std::string where(const PlanPlace& place) const;
  std::string text(const NamedValue& value) const;
  void join_messages();
  Held combine(const PlanPlace& place, const Held& left, const Held& right);

  const MscclppPlan& plan_;
  PlanCells cells_;
  MscclChunks chunks_;
  Words words_;
  std::vector<Cell> held_;
  PlanRaces races_;
  std::vector<PlanMessage> messages_;
  std::vector<PlanCombination> combinations_;
  std::vector<std::int64_t> last_in_, last_out_;  // of each lane: the step of its last message
  std::vector<std::string> findings_, written_inputs_;
  bool mixes_packets_ = false, uses_switch_ = false;
};

/// Whether an operand of a type is packets.
bool reads_packets(const PlanOperation& what, std::size_t source);
bool writes_packets(const PlanOperation& what, std::size_t target);

}  // namespace wormcube::apps
