// One send or one receive of a step, and the functions that make one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace wormcube {

using Bytes = std::size_t;
using Tag = std::int32_t;

using ConstSpan = std::span<const std::byte>;
using Span = std::span<std::byte>;

/// A send's data as an op keeps it: nothing writes to it.
inline Span only_read(ConstSpan data) {
  return {const_cast<std::byte*>(data.data()), data.size()};  // NOLINT: see above
}

/// One send or one receive of a step. It refers to the caller's data, pieces and moves until the
/// step returns.
class Op {
 public:
  enum class Kind : std::uint8_t { send, receive };
  /// How the other node is named.
  enum class To : std::uint8_t { rank, move, moves };

  Op(Kind kind, Rank peer, Span data, Tag tag) : Op(kind, To::rank, data, tag) { peer_ = peer; }
  Op(Kind kind, Move move, Span data, Tag tag) : Op(kind, To::move, data, tag) { move_ = move; }
  Op(Kind kind, std::span<const Move> moves, Span data, Tag tag) : Op(kind, To::moves, data, tag) {
    moves_ = moves;
  }

  Kind kind() const { return kind_; }
  bool is_send() const { return kind_ == Kind::send; }
  To to() const { return to_; }
  /// The other node, if it is named by rank; peer_of() finds it in any case.
  Rank peer() const {
    WORMCUBE_ASSERT(to_ == To::rank);
    return peer_;
  }
  Tag tag() const { return tag_; }
  /// The signed moves from this node to the other, in the order travelled; none if that is named by
  /// rank. A send's moves are the message's path. A receive's only say where the source is.
  std::span<const Move> moves() const { return to_ == To::move ? std::span(&move_, 1) : moves_; }
  /// The data, in the order sent. A receive fills its pieces in order; they may be cut differently
  /// from the send's.
  std::span<const Span> pieces() const { return in_pieces_ ? pieces_ : std::span(&piece_, 1); }
  Bytes bytes() const {
    Bytes sum = 0;
    for (const Span piece : pieces()) sum += piece.size();
    return sum;
  }

  /// A receive whose data the program neither reads nor sends soon. Where it exceeds the caches,
  /// long pieces bypass them into memory. A hint: it changes only the time.
  /// \param together  bytes that all nodes receive before one of them reads some
  Op unread(Bytes together) const {
    Op op = *this;
    op.unread_ = static_cast<std::uint8_t>(std::bit_width(together));
    return op;
  }
  /// The same, rounded down to a power of two; 0: not unread().
  Bytes unread_bytes() const { return unread_ == 0 ? 0 : Bytes{1} << (unread_ - 1U); }

  /// The same with data that may be gone once the step has returned. A step with such an op is
  /// complete when it returns, whatever the window (MachineOptions::window).
  Op transient() const {
    Op op = *this;
    op.transient_ = true;
    return op;
  }
  bool is_transient() const { return transient_; }

  /// The same with another peer, other moves, another tag, or several pieces.
  Op with(Rank peer) const {
    Op op = *this;
    op.to_ = To::rank, op.peer_ = peer, op.moves_ = {};
    return op;
  }
  Op with(Move move) const {
    Op op = *this;
    op.to_ = To::move, op.move_ = move, op.moves_ = {};
    return op;
  }
  Op with(std::span<const Move> moves) const {
    Op op = *this;
    op.to_ = To::moves, op.moves_ = moves;
    return op;
  }
  Op with_tag(Tag tag) const {
    Op op = *this;
    op.tag_ = tag;
    return op;
  }
  Op with_pieces(std::span<const Span> pieces) const {
    Op op = *this;
    op.in_pieces_ = true, op.pieces_ = pieces;
    return op;
  }

 private:
  Op(Kind kind, To to, Span data, Tag tag) : kind_(kind), to_(to), tag_(tag), piece_(data) {}

  Kind kind_;
  To to_;
  bool in_pieces_ = false, transient_ = false;
  std::uint8_t unread_ = 0;  // the bits of unread_bytes()
  Tag tag_;
  Rank peer_ = 0;
  Move move_;
  std::span<const Move> moves_;
  Span piece_;
  std::span<const Span> pieces_;
};

/// Sends data: to a node by rank, where the router chooses the path; along one dimension, where the
/// message gives direction and distance; along several moves, in this order.
inline Op send(Rank to, ConstSpan data, Tag tag = 0) {
  return {Op::Kind::send, to, only_read(data), tag};
}
inline Op send(Move to, ConstSpan data, Tag tag = 0) {
  return {Op::Kind::send, to, only_read(data), tag};
}
inline Op send(std::span<const Move> to, ConstSpan data, Tag tag = 0) {
  return {Op::Kind::send, to, only_read(data), tag};
}
/// Gather-send: the pieces travel as one message. `To` is a Rank, a Move or a span of moves.
template <class To>
Op send_pieces(To to, std::span<const Span> pieces, Tag tag = 0) {
  return send(to, ConstSpan{}, tag).with_pieces(pieces);
}

/// Receives a message of exactly data.size() bytes from a node: the rank, or the moves that lead
/// from here to there. For a message that travels by Move{d, +h}, receive(Move{d, -h}, ..).
inline Op receive(Rank from, Span data, Tag tag = 0) {
  return {Op::Kind::receive, from, data, tag};
}
inline Op receive(Move from, Span data, Tag tag = 0) {
  return {Op::Kind::receive, from, data, tag};
}
inline Op receive(std::span<const Move> from, Span data, Tag tag = 0) {
  return {Op::Kind::receive, from, data, tag};
}
/// Scatter-receive: one message into several pieces, filled in order.
template <class From>
Op receive_pieces(From from, std::span<const Span> pieces, Tag tag = 0) {
  return receive(from, Span{}, tag).with_pieces(pieces);
}

/// Exchanges with one partner, as the ops of a step: step(exchange(partner, out, in)). By move, the
/// partner is where the move leads; each of the two names the other.
inline std::array<Op, 2> exchange(Rank partner, ConstSpan out, Span in, Tag tag = 0) {
  return {send(partner, out, tag), receive(partner, in, tag)};
}
inline std::array<Op, 2> exchange(Move partner, ConstSpan out, Span in, Tag tag = 0) {
  return {send(partner, out, tag), receive(partner, in, tag)};
}

/// The node at the other end of an op of node `rank`: by rank, or where the moves lead. Throws
/// UsageError if there is none.
Rank peer_of(const Topology& topology, Rank rank, const Op& op);

/// A description of two ops of a step of node `rank` whose data overlap: "a send of 8 bytes and the
/// receive from 1 of 8 bytes overlap in memory". One op twice: two of its pieces overlap.
std::string overlap_text(const Topology& topology, Rank rank, const Op& one, const Op& other);

}  // namespace wormcube
