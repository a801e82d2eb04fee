// Reads a schedule, writes a log, and checks the rules of a step.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/schedule.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/schedule/logger.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

#include <fmt/core.h>

namespace wormcube {

std::size_t Schedule::steps() const {
  std::size_t most = 0;
  for (const RankLog& log : ranks) most = std::max(most, log.step_ends.size());
  return most;
}

std::size_t Schedule::messages() const {
  std::size_t ends = 0;
  for (const RankLog& log : ranks) ends += log.ops.size();
  return ends / 2;
}

std::span<const Move> Schedule::moves(Rank rank, const OpRecord& op) const {
  return std::span(ranks[static_cast<std::size_t>(rank)].moves).subspan(op.first_move, op.moves);
}

bool Schedule::needs_all_ports() const {
  for (Rank rank = 0; rank < static_cast<Rank>(ranks.size()); ++rank) {
    for (std::size_t step = 0; step < ranks[static_cast<std::size_t>(rank)].step_ends.size();
         ++step) {
      const std::span<const OpRecord> all = ops(rank, step);
      const std::ptrdiff_t sends = std::ranges::count(all, Op::Kind::send, &OpRecord::kind);
      if (sends > 1 || std::ssize(all) - sends > 1) return true;
    }
  }
  return false;
}

void logger::start(RankLog& log) {
  log.ops.clear();
  log.step_ends.clear();
  log.rearranged.clear();
  log.combined.clear();
  log.moves.clear();
  log.peak_block_bytes = log.peak_bytes = 0;
}

void logger::step(RankLog& log, const Topology& topology, Rank rank, std::span<const Op> ops) {
  for (const Op& op : ops) {
    // A receive's moves only name its source.
    const auto moves = op.is_send() ? op.moves() : std::span<const Move>{};
    if (moves.size() > OpRecord::most_moves) {
      throw UsageError(fmt::format("node {}: a message of {} moves; the limit is {}", rank,
                                   moves.size(), OpRecord::most_moves));
    }
    log.ops.push_back({.kind = op.kind(),
                       .moves = static_cast<std::uint16_t>(moves.size()),
                       .peer = peer_of(topology, rank, op),
                       .tag = op.tag(),
                       .first_move = static_cast<std::uint32_t>(log.moves.size()),
                       .bytes = op.bytes()});
    log.moves.insert(log.moves.end(), moves.begin(), moves.end());
  }
  log.step_ends.push_back(static_cast<std::uint32_t>(log.ops.size()));
}

void logger::charged(RankLog& log, Charge charge, Bytes bytes) {
  if (charge == Charge::rearrange) log.rearranged.add(log.step_ends.size(), bytes);
  if (charge == Charge::combine) log.combined.add(log.step_ends.size(), bytes);
}

void logger::acquired(RankLog& log, Bytes bytes, Purpose purpose, Bytes& held, Bytes& held_blocks) {
  held += bytes;
  if (purpose == Purpose::blocks) held_blocks += bytes;
  log.peak_bytes = std::max(log.peak_bytes, held);
  log.peak_block_bytes = std::max(log.peak_block_bytes, held_blocks);
}

void logger::released(Bytes bytes, Purpose purpose, Bytes& held, Bytes& held_blocks) {
  held -= bytes;
  if (purpose == Purpose::blocks) held_blocks -= bytes;
}

void StepRules::require(const Topology& topology, Rank rank, std::size_t step,
                        std::span<const Op> ops) {
  bool receives = false;
  for (const Op& op : ops) {
    try {
      static_cast<void>(peer_of(topology, rank, op));
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("node {}, step {}: {}", rank, step, error.what()));
    }
    receives = receives || !op.is_send();
  }
  if (receives && ops.size() > 1) require_disjoint(topology, rank, step, ops);
}

// A merge sort that begins with the ascending runs that are there: an op's pieces mostly are one.
void StepRules::sort_pieces() {
  constexpr std::size_t few = 16;
  if (pieces_.size() < few) {
    std::ranges::sort(pieces_, std::less<>(), &Piece::begin);
    return;
  }
  run_ends_.clear();
  for (std::size_t i = 1; i <= pieces_.size(); ++i) {
    if (i == pieces_.size() || std::less<>()(pieces_[i].begin, pieces_[i - 1].begin)) {
      run_ends_.push_back(i);
    }
  }
  while (run_ends_.size() > 1) {
    merged_.clear();
    std::size_t runs = 0;
    for (std::size_t i = 0, first = 0; i < run_ends_.size(); i += 2) {
      const std::size_t middle = run_ends_[i];
      const std::size_t end = i + 1 < run_ends_.size() ? run_ends_[i + 1] : middle;
      const std::span all(pieces_);
      std::ranges::merge(all.subspan(first, middle - first), all.subspan(middle, end - middle),
                         std::back_inserter(merged_), std::less<>(), &Piece::begin, &Piece::begin);
      run_ends_[runs++] = first = end;
    }
    run_ends_.resize(runs);
    pieces_.swap(merged_);
  }
}

void StepRules::require_disjoint(const Topology& topology, Rank rank, std::size_t step,
                                 std::span<const Op> ops) {
  pieces_.clear();
  for (const Op& op : ops) {
    for (const Span piece : op.pieces()) {
      if (!piece.empty()) pieces_.push_back({piece.data(), piece.data() + piece.size(), &op});
    }
  }
  sort_pieces();
  const std::less<const std::byte*> before;
  // Of all pieces before this one in memory: the send and the receive that reach farthest.
  const Piece* sent = nullptr;
  const Piece* received = nullptr;
  for (const Piece& piece : pieces_) {
    const bool is_send = piece.op->is_send();
    const Piece* clash = nullptr;
    if (received != nullptr && before(piece.begin, received->end)) clash = received;
    if (!is_send && sent != nullptr && before(piece.begin, sent->end)) clash = sent;
    if (clash != nullptr) {
      throw UsageError(fmt::format("node {}, step {}: {}: {}", rank, step, topology.name(),
                                   overlap_text(topology, rank, *clash->op, *piece.op)));
    }
    const Piece*& furthest = is_send ? sent : received;
    if (furthest == nullptr || before(furthest->end, piece.end)) furthest = &piece;
  }
}

}  // namespace wormcube
