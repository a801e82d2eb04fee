// What the dry run and the trace of a real run have in common: one node's log, and the rules of a
// step.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/schedule/schedule.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace wormcube {

/// Writes a RankLog. Dry runs and traces both log through here, so equal behaviour gives equal
/// logs.
namespace logger {

/// An empty log: no step yet, one gap. It keeps its memory.
void start(RankLog& log);
/// Throws UsageError for a peer or move outside the topology.
void step(RankLog& log, const Topology& topology, Rank rank, std::span<const Op> ops);
/// Work in the current gap: it adds up.
void charged(RankLog& log, Charge charge, Bytes bytes);
/// \param held, held_blocks  what the node holds now, in total and for blocks
void acquired(RankLog& log, Bytes bytes, Purpose purpose, Bytes& held, Bytes& held_blocks);
void released(Bytes bytes, Purpose purpose, Bytes& held, Bytes& held_blocks);

}  // namespace logger

/// The rules that one node's ops must keep on their own. It keeps its working memory, so use one
/// for many steps.
class StepRules {
 public:
  /// Throws UsageError, naming node, step and network, for a peer or move outside it, and if a
  /// piece that is received into overlaps another piece of the step.
  void require(const Topology& topology, Rank rank, std::size_t step, std::span<const Op> ops);

 private:
  void require_disjoint(const Topology& topology, Rank rank, std::size_t step,
                        std::span<const Op> ops);

  struct Piece {
    const std::byte* begin;
    const std::byte* end;
    const Op* op;
  };
  void sort_pieces();  // by begin

  std::vector<Piece> pieces_, merged_;
  std::vector<std::size_t> run_ends_;  // in pieces_
};

}  // namespace wormcube
