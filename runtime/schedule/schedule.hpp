// A schedule: what every node sends, receives and rearranges, step by step, as plain data. Always
// derived from a program, never written by hand beside one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/forwarding_node.hpp"
#include "wormcube/runtime/node/node.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube {

/// A node program.
using Program = std::function<void(Node&)>;

/// One send or receive, without its data.
struct OpRecord {
  Op::Kind kind;
  Rank peer;  // of a send by moves: where they lead
  Tag tag;
  std::uint32_t first_move;  // into RankLog::moves
  std::uint32_t moves;       // 0 for a message routed by rank
  Bytes bytes;
  friend bool operator==(const OpRecord&, const OpRecord&) = default;
};

/// What one node did.
struct RankLog {
  std::vector<OpRecord> ops;
  std::vector<std::uint32_t> step_ends;  // step t's ops end here
  // Entry t: bytes permuted before step t; the last entry: after the last step.
  std::vector<Bytes> rearranged;
  std::vector<Bytes> combined;  // the same of what a reduction combined
  std::vector<Move> moves;
  Bytes peak_block_bytes = 0;  // most memory held at once for blocks
  Bytes peak_bytes = 0;        // most memory held at once in all
  friend bool operator==(const RankLog&, const RankLog&) = default;
};

/// Steps that the program has named (Node::phase), of all nodes together.
struct Phase {
  std::string name;
  std::size_t first, last;  // steps
  friend bool operator==(const Phase&, const Phase&) = default;
};

/// What a node computes between two steps, as it says itself (Node::computes).
struct Computed {
  std::size_t step;  // before which; the number of steps: after the last
  double operations, bytes;
  friend bool operator==(const Computed&, const Computed&) = default;
};

struct Schedule {
  Topology topology;
  std::vector<RankLog> ranks;
  /// Ascending by first step. Names say nothing of what moves: neither the text form nor a trace
  /// has them, and schedules are equal without.
  std::vector<Phase> phases = {};
  /// Of each rank, ascending by step; of none: nobody says what it computes. As with phases,
  /// neither the text form nor a trace has it.
  std::vector<std::vector<Computed>> computed = {};
  /// Of each rank: pieces of memory that its sends are put together from and its receives are cut
  /// into. Of a schedule that was not recorded: none. As with phases, neither the text form nor a
  /// trace has it.
  std::vector<std::uint64_t> pieces = {};

  /// The largest number of steps of any rank; programs of which all nodes take all steps have the
  /// same on each.
  std::size_t steps() const;
  std::span<const OpRecord> ops(Rank rank, std::size_t step) const;
  std::span<const Move> moves(Rank rank, const OpRecord& op) const;
  friend bool operator==(const Schedule& a, const Schedule& b) {
    return a.topology == b.topology && a.ranks == b.ranks;
  }
};

/// A dry run: the program of every rank, one at a time (ranks in parallel), without messages, data
/// or threads of its own. local() is skipped and memory is addresses that cannot be read: a program
/// that touches data outside local() ends the process with exit code 2 and a line on stderr that
/// names node, step and network. (The signal handler for it stands while a dry run does.)
///
/// \param what  what is recorded ("alltoall ring"), for that line
///
/// Throws what the lowest rank that fails throws: a program's UsageError as it is before the first
/// step, with node, step and network in front later; anything else as NodeFailure, the same in
/// front and the original nested. UsageError for a peer or move outside the topology, a receive
/// that overlaps a send or another receive of its step, and more than 64 GiB a node.
Schedule record(const Topology& topology, const Program& program, std::string_view what = {});

/// A node that passes everything on to another and logs what passes: the trace of a real run, in a
/// dry run's words.
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
