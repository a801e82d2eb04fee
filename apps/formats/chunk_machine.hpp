// What the chunks of GPUs' buffers hold while thread blocks run, who touches them, and what goes
// wrong: for MSCCL XML and for the plans of MSCCL++.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/formats/msccl.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace wormcube::apps {

/// What a cell holds before anything is written to it.
inline constexpr NamedValue held_nothing{~WordId{0}, 0, 0};
/// Follows from a finding: not reported again.
inline constexpr NamedValue held_unknown{~WordId{0} - 1, 0, 0};
inline constexpr std::size_t most_msccl_findings = 10;

/// The buffers of all GPUs, and what the format says in its own way.
struct ChunkLayout {
  struct Gpu {
    int input, output, scratch;  // chunks
  };
  MscclCollective collective = MscclCollective::custom;
  bool in_place = false;
  int parts = 1;  ///< cells of one block of the operation
  int units = 1;  ///< cells of a chunk
  std::vector<Gpu> gpus = {};
  std::string about = {};           ///< the format, and the algorithm's name; may be empty
  std::string_view block_end = "";  ///< between a thread block and its step, in findings
  /// Of each lane, every access of a cell takes part in races; otherwise its last read and write.
  bool keeps_accesses = false;

  int ranks() const { return static_cast<int>(gpus.size()); }
};

/// The cells of all buffers, by number: GPU by GPU, input, output, scratch. In place, input and
/// output are one.
class ChunkCells {
 public:
  explicit ChunkCells(const ChunkLayout& layout);
  std::size_t size() const { return starts_.back(); }
  /// The first cell of a chunk.
  std::size_t cell(int gpu, MscclBuffer buffer, int chunk) const;
  int gpu(std::size_t cell) const;
  MscclBuffer buffer(std::size_t cell) const { return place(cell).first; }
  /// "o[3]", "o[3] (part 1 of 2)"
  std::string text(std::size_t cell) const;

 private:
  /// The buffer, and the cell's number in it.
  std::pair<MscclBuffer, std::size_t> place(std::size_t cell) const;

  const ChunkLayout& layout_;
  std::vector<std::size_t> starts_;  // of each GPU, and the end
};

/// Where an operation stands.
struct ChunkPlace {
  int gpu, block, step, inner = -1;
  std::string_view type;  // of the operation
};

/// What each lane of execution has done when something else sees it: a number that ascends. A
/// thread block has one lane or several.
using LaneTimes = std::vector<std::uint32_t>;

/// Combinations in the order in which they happened.
struct ChunkCombination {
  std::size_t operation;
  int gpu;
  std::int64_t gap;  ///< before this step at the earliest, as far as the operands' `ready` says
  RankNames::Pair pair;
};

/// The data flow of one run. All functions but the last ones concern the operation that has begun.
class ChunkMachine {
 public:
  /// A value, and the last step of a message that it needs.
  struct Held {
    NamedValue value;
    std::int64_t ready = -1;
  };
  struct Cell : Held {
    std::shared_ptr<const void> packet;  ///< of the operation that wrote packets; else nothing
    bool data = false, packets = false;  ///< it ever held
  };

  explicit ChunkMachine(ChunkLayout layout);
  /// "tb 0 step 3.1 (put)"
  static std::string place_text(const ChunkPlace& place, std::string_view block_end);
  ChunkMachine(const ChunkMachine&) = delete;
  ChunkMachine& operator=(const ChunkMachine&) = delete;

  const ChunkCells& cells() const { return cells_; }
  const Cell& operator[](std::size_t cell) const { return held_[cell]; }

  /// \param times  what its lane has seen; they must live until the operation has ended
  void begin(const ChunkPlace& place, std::uint32_t lane, const LaneTimes& times);
  /// Accesses of a cell that nothing orders are races.
  void access(std::size_t cell, bool writes);
  /// \param packets  what the operation expects there
  Held read(std::size_t cell, bool packets = false);
  Held combine(const Held& left, const Held& right);
  /// \param packet  not empty: packets are written
  void write(std::size_t cell, const Held& value,
             const std::shared_ptr<const void>& packet = nullptr);
  template <class Text>
  void find(Text text) {
    if (findings_.size() < most_msccl_findings) findings_.push_back(where() + ": " + text());
  }

  /// Compares what outputs hold with what they must hold. \pre nothing else follows
  void finish();
  const std::vector<std::string>& findings() const { return findings_; }
  /// Writes into the caller's input, unless the algorithm is in place.
  const std::vector<std::string>& written_inputs() const { return written_inputs_; }
  std::vector<std::string> races() const;
  /// Writes into inputs and outputs that a GPU's thread blocks, at their end, have not seen: the
  /// caller may read before them.
  ///
  /// \param ends  what each GPU has seen at its end
  std::vector<std::string> late(const std::vector<LaneTimes>& ends) const;

  struct Message {
    int from, to;
    Tag tag;
    std::int64_t step;
    std::int64_t sent, received;  ///< its place among the messages of a GPU in a step
    Bytes bytes;
    std::vector<NamedValue> values;
  };
  const std::vector<ChunkCombination>& combinations() const { return combinations_; }
  /// Messages and combinations in text 2, on a complete network.
  ///
  /// \param named  messages have names, and combinations are there
  NamedSchedule lay(const std::vector<Message>& messages,
                    std::vector<ChunkCombination> combinations, bool named) const;

 private:
  /// Who touched a cell: the operations of a lane, and when; 0: never.
  struct Access {
    std::uint32_t lane, read = 0, written = 0;
    std::uint32_t reader = 0, writer = 0;
  };
  struct Racer {
    std::uint32_t operation;
    bool writes;
  };

  std::optional<NamedValue> given(int gpu, int chunk) const;
  std::optional<NamedValue> wanted(int gpu, int chunk);
  std::string where() const;
  std::string access_text(std::size_t cell, Racer racer) const;
  /// "chunk 3 of 0+1", "chunk 3 of all"
  std::string text(const NamedValue& value) const;
  std::string origins(const NamedValue& value) const;
  std::string unit_text(std::size_t unit) const;
  std::string name(std::size_t cell) const;
  /// The number of a value's cell in the input of its GPUs.
  int index(const NamedValue& value) const { return value.block * layout_.parts + value.part; }

  const ChunkLayout layout_;
  ChunkCells cells_;
  std::optional<Goal> goal_;
  Words words_;
  std::vector<Cell> held_;
  std::vector<ChunkPlace> operations_;  // that have begun; the last one acts
  std::uint32_t lane_ = 0;
  const LaneTimes* times_ = nullptr;
  std::vector<std::vector<Access>> accesses_;  // of each cell
  using Order = std::tuple<int, int, int, int>;
  std::map<std::tuple<std::size_t, Order, Order>, std::pair<Racer, Racer>> races_;
  std::vector<ChunkCombination> combinations_;
  std::vector<std::string> findings_, written_inputs_;
};

}  // namespace wormcube::apps
