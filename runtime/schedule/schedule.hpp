// A schedule: what every node sends, receives and rearranges, step by step, as plain data. Always
// derived from a program, never written by hand beside one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/forwarding_node.hpp"
#include "wormcube/runtime/node/node.hpp"
#include "wormcube/runtime/schedule/gap_bytes.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube {

/// A node program.
using Program = std::function<void(Node&)>;

/// The largest number of bytes that a schedule's text may name: doubles count up to it exactly.
inline constexpr Bytes most_bytes_in_text = Bytes{1} << 53;

/// One send or receive, without its data.
struct OpRecord {
  static constexpr std::size_t most_moves = 0xFFFF;
  Op::Kind kind;
  std::uint16_t moves;  // 0 for a message routed by rank
  Rank peer;            // of a send by moves: where they lead
  Tag tag;
  std::uint32_t first_move;  // into RankLog::moves
  Bytes bytes;
  friend bool operator==(const OpRecord&, const OpRecord&) = default;
};

static_assert(sizeof(OpRecord) == 24);  // large schedules have 10^8

/// What one node did.
struct RankLog {
  std::vector<OpRecord> ops;
  std::vector<std::uint32_t> step_ends;  // step t's ops end here
  GapBytes rearranged;                   // permuted before step t, and after the last step
  GapBytes combined;                     // the same for what a reduction combined
  std::vector<Move> moves;
  Bytes peak_block_bytes = 0;  // most memory held at once for blocks
  Bytes peak_bytes = 0;        // most memory held at once in total
  friend bool operator==(const RankLog&, const RankLog&) = default;
};

/// Steps that the program has named (Node::phase), of all nodes together.
struct Phase {
  std::string name;
  std::size_t first, last;  // steps
  friend bool operator==(const Phase&, const Phase&) = default;
};

/// What a node computes between two steps, as it declares (Node::computes).
struct Computed {
  std::size_t step;  // the step after it; the number of steps: after the last
  double operations, bytes;
  friend bool operator==(const Computed&, const Computed&) = default;
};

struct Schedule {
  Topology topology;
  std::vector<RankLog> ranks;
  /// Ascending by first step. Names do not affect what moves: neither the text form nor a trace has
  /// them, and schedules compare equal without them.
  std::vector<Phase> phases = {};
  /// For each rank, ascending by step; empty: the program declares nothing. As with phases, neither
  /// the text form nor a trace has it.
  std::vector<std::vector<Computed>> computed = {};
  /// For each rank: the number of memory pieces that its sends gather and its receives scatter.
  /// Empty for a schedule that was not recorded. As with phases, neither the text form nor a trace
  /// has it.
  std::vector<std::uint64_t> pieces = {};

  /// The largest number of steps of any rank; if all nodes take all steps, all ranks have the same.
  std::size_t steps() const;
  std::span<const OpRecord> ops(Rank rank, std::size_t step) const {
    const RankLog& log = ranks[static_cast<std::size_t>(rank)];
    if (step >= log.step_ends.size()) return {};
    const std::size_t begin = step == 0 ? 0 : log.step_ends[step - 1];
    return std::span(log.ops).subspan(begin, log.step_ends[step] - begin);
  }
  /// Half the number of sends and receives: of a schedule whose ends match, the number of messages.
  std::size_t messages() const;
  std::span<const Move> moves(Rank rank, const OpRecord& op) const;
  /// Whether some node sends or receives several messages in one step.
  bool needs_all_ports() const;
  friend bool operator==(const Schedule& a, const Schedule& b) {
    return a.topology == b.topology && a.ranks == b.ranks;
  }
};

/// A dry run: executes the program of every rank, one at a time (ranks in parallel), without
/// messages, data or threads of its own. local() is skipped, and memory() returns addresses that
/// cannot be read. A program that touches data outside local() ends the process with exit code 2
/// and a line on stderr that names node, step and network. (The signal handler for it is installed
/// while a dry run is active.)
///
/// \param what  the name of what is recorded ("alltoall ring"), for that line
///
/// Throws what the lowest rank that fails throws: a program's UsageError unchanged before the first
/// step, with node, step and network in front later; any other exception as NodeFailure with the
/// same in front and the original nested. UsageError for a peer or move outside the topology, for a
/// receive that overlaps a send or another receive of its step, and for more than 64 GiB a node.
Schedule record(const Topology& topology, const Program& program, std::string_view what = {});

/// A node that forwards every call to another and logs it: the trace of a real run, in the form of
/// a dry run's log.
class TracingNode final : public ForwardingNode {
 public:
  /// The log must outlive the node and belongs to it meanwhile; it starts empty.
  TracingNode(Node& node, RankLog& log);
  using Node::step;
  void step(std::span<const Op> ops) override;

 private:
  void work(Charge charge, Bytes bytes, FunctionRef work) override;
  Span acquire(Bytes bytes, Purpose purpose) override;
  void release(Span data, Purpose purpose) noexcept override;
  RankLog& log_;
  Bytes held_ = 0, held_blocks_ = 0;
};

}  // namespace wormcube
