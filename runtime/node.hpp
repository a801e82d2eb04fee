// The interface of a node program: one emulated computer, its steps, its memory, its views.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/topology/topology.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace wormcube {

using Bytes = std::size_t;
using Tag = std::int32_t;

using ConstSpan = std::span<const std::byte>;
using Span = std::span<std::byte>;

/// One send or one receive of a step. It refers to the caller's data, pieces and moves until the
/// step returns.
class Op {
 public:
  enum class Kind : std::uint8_t { send, receive };

  Op(Kind kind, Rank peer, Tag tag) : kind_(kind), peer_(peer), tag_(tag) {}

  Kind kind() const { return kind_; }
  bool is_send() const { return kind_ == Kind::send; }
  /// The other node; -1 for a send that is addressed by moves.
  Rank peer() const { return peer_; }
  Tag tag() const { return tag_; }
  /// The signed moves of the message, in the order travelled; empty for a send addressed by rank.
  std::span<const Move> moves() const {
    return moves_.data() != nullptr ? moves_ : std::span(&move_, peer_ < 0 ? 1U : 0U);
  }
  /// The data, in the order sent. A receive fills its pieces in order; they may be cut differently
  /// from the send's.
  std::span<const Span> pieces() const {
    return pieces_.data() != nullptr ? pieces_ : std::span(&piece_, 1);
  }
  Bytes bytes() const {
    Bytes sum = 0;
    for (const Span piece : pieces()) sum += piece.size();
    return sum;
  }

  void set_peer(Rank peer) { peer_ = peer; }
  void set_data(Span piece) { piece_ = piece; }
  void set_data(std::span<const Span> pieces) { pieces_ = pieces; }
  void set_move(Move move) { move_ = move; }
  void set_moves(std::span<const Move> moves) { moves_ = moves; }

 private:
  Kind kind_;
  Rank peer_;
  Tag tag_;
  Move move_;
  std::span<const Move> moves_;
  Span piece_;
  std::span<const Span> pieces_;
};

/// Sends data to a node by rank; the router chooses the way.
inline Op send(Rank to, ConstSpan data, Tag tag = 0) {
  Op op(Op::Kind::send, to, tag);
  // NOLINTNEXTLINE: a send's data is only read
  op.set_data(Span(const_cast<std::byte*>(data.data()), data.size()));
  return op;
}
/// Sends data along one dimension: the message says which way round and how far.
inline Op send(Move move, ConstSpan data, Tag tag = 0) {
  Op op = send(Rank{-1}, data, tag);
  op.set_move(move);
  return op;
}
/// Sends data along several moves, in this order.
inline Op send(std::span<const Move> moves, ConstSpan data, Tag tag = 0) {
  Op op = send(Rank{-1}, data, tag);
  op.set_moves(moves);
  return op;
}
/// Gather-send: the pieces travel as one message. `To` is a Rank, a Move or a span of moves.
template <class To>
Op send_pieces(To to, std::span<const Span> pieces, Tag tag = 0) {
  Op op = send(to, ConstSpan{}, tag);
  op.set_data(pieces);
  return op;
}

/// Receives a message of exactly data.size() bytes from a node.
inline Op receive(Rank from, Span data, Tag tag = 0) {
  Op op(Op::Kind::receive, from, tag);
  op.set_data(data);
  return op;
}
/// Scatter-receive: one message into several pieces, filled in order.
inline Op receive_pieces(Rank from, std::span<const Span> pieces, Tag tag = 0) {
  Op op = receive(from, Span{}, tag);
  op.set_data(pieces);
  return op;
}

/// A callable by reference, without allocation; valid during the call that it is passed to.
class Work {
 public:
  template <class F>
  // NOLINTNEXTLINE(bugprone-forwarding-reference-overload): Work itself is excluded
  requires(!std::is_same_v<std::remove_cvref_t<F>, Work>) Work(F&& work)
      : object_(const_cast<void*>(static_cast<const void*>(&work))),
        call_([](void* object) { (*static_cast<std::remove_reference_t<F>*>(object))(); }) {}
  void operator()() const { call_(object_); }

 private:
  void* object_;
  void (*call_)(void*);
};

class Node;

/// What a piece of private memory is for. Papers count the blocks that an algorithm holds; what
/// only bridges one message (staging) is counted in bytes, but is not a claim of theirs.
enum class Purpose : std::uint8_t { blocks, staging };

/// Private memory of a node, returned when it goes out of scope. Touch it inside local() only.
class Memory {
 public:
  Memory(Node& node, Bytes bytes, Purpose purpose);
  ~Memory();
  Memory(Memory&& other) noexcept
      : node_(other.node_), data_(std::exchange(other.data_, {})), purpose_(other.purpose_) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Memory& operator=(Memory&&) = delete;

  operator Span() const { return data_; }       // NOLINT(google-explicit-constructor)
  operator ConstSpan() const { return data_; }  // NOLINT(google-explicit-constructor)
  Span span() const { return data_; }
  Span subspan(Bytes offset, Bytes count) const { return data_.subspan(offset, count); }
  std::byte* data() const { return data_.data(); }
  Bytes size() const { return data_.size(); }

 private:
  Node* node_;
  Span data_;
  Purpose purpose_;
};

class LineView;
class GroupView;

/// One emulated computer, as its program sees it. Each executor (threads, fibers, a dry recording,
/// a proof) implements it; algorithms see nothing else.
///
/// A node program is a function of a Node that every node runs. It is oblivious if its control flow
/// depends on rank, size and block sizes only; collectives are, and touch data in local() only.
///
/// Only the node's own program may call these functions.
class Node {
 public:
  virtual ~Node() = default;
  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  virtual Rank rank() const = 0;
  virtual const Topology& topology() const = 0;
  Rank size() const { return topology().nodes(); }

  /// Posts all sends and receives together and returns when all are complete. Every node takes
  /// every step, with no ops if it is idle. A send's data must not be a receive's of the same step.
  /// Messages between two nodes with one tag arrive in the order sent.
  ///
  /// Throws UsageError for a peer or move outside the topology; Deadlock, Stopped as the machine
  /// reports them.
  virtual void step(std::span<const Op> ops) = 0;
  void step(std::initializer_list<Op> ops) { step(std::span(ops.begin(), ops.size())); }
  void step() { step(std::span<const Op>{}); }

  /// Work on own memory; skipped in a dry run.
  void local(Work work) { local(0, work); }
  /// Work that permutes `bytes` of blocks in own memory: charged as rearrangement.
  void rearrange(Bytes bytes, Work work) { local(bytes, work); }

  /// Private memory for as long as the result lives; accounted.
  Memory memory(Bytes bytes, Purpose purpose = Purpose::staging) { return {*this, bytes, purpose}; }

  /// The line or ring through this node along one dimension, as a node of its own: rank() is the
  /// coordinate there.
  LineView along(int dimension);
  /// The nodes `members` (distinct, this one among them, the same list on each) as a complete
  /// network of their own: rank() is the position in the list, which must outlive the view.
  GroupView group(std::span<const Rank> members);

 protected:
  friend class Memory;
  friend class View;
  virtual void local(Bytes rearranged, Work work) = 0;
  virtual Span acquire(Bytes bytes, Purpose purpose) = 0;
  virtual void release(Span data, Purpose purpose) noexcept = 0;
};

inline Memory::Memory(Node& node, Bytes bytes, Purpose purpose)
    : node_(&node), data_(node.acquire(bytes, purpose)), purpose_(purpose) {}
inline Memory::~Memory() {
  if (data_.data() != nullptr) node_->release(data_, purpose_);
}

/// A node of a part of the network. Steps of a view are steps of the node below it: all members of
/// all views of one partition take them together, so global step numbers stay global.
class View : public Node {
 public:
  const Topology& topology() const final { return topology_; }
  Rank rank() const final { return rank_; }
  using Node::local;
  using Node::step;
  void step(std::span<const Op> ops) final;

 protected:
  View(Node& node, Topology topology, Rank rank)
      : node_(node), topology_(std::move(topology)), rank_(rank) {}
  virtual Rank below(Rank member) const = 0;  // the member's rank in the node below
  virtual Move below(Move move) const = 0;
  Node& node() const { return node_; }

 private:
  void local(Bytes rearranged, Work work) final { node_.local(rearranged, work); }
  Span acquire(Bytes bytes, Purpose purpose) final { return node_.acquire(bytes, purpose); }
  void release(Span data, Purpose purpose) noexcept final { node_.release(data, purpose); }

  Node& node_;
  Topology topology_;
  Rank rank_;
  std::vector<Op> ops_;  // translated; kept so that steady state does not allocate
  std::vector<Move> moves_;
};

class LineView final : public View {
 public:
  LineView(Node& node, int dimension);

 private:
  Rank below(Rank member) const override {
    return node().topology().with(node().rank(), dimension_, member);
  }
  Move below(Move move) const override { return {dimension_, move.hops}; }
  int dimension_;
};

class GroupView final : public View {
 public:
  /// Throws UsageError if this node is not among the members, or a member is not a node.
  GroupView(Node& node, std::span<const Rank> members);

 private:
  Rank below(Rank member) const override { return members_[member]; }
  Move below(Move move) const override;
  std::span<const Rank> members_;
};

inline LineView Node::along(int dimension) { return {*this, dimension}; }
inline GroupView Node::group(std::span<const Rank> members) { return {*this, members}; }

/// The node that a send is for: its peer, or where its moves lead; UsageError outside the topology.
Rank destination(const Topology& topology, Rank from, const Op& op);

/// x modulo p, in 0 .. p-1 also for negative x.
constexpr Rank mod(Rank x, Rank p) { return (x % p + p) % p; }

/// The least t with 2^t >= x, for x >= 1.
constexpr int log2_ceiling(Rank x) { return std::bit_width(static_cast<unsigned>(x) - 1U); }

}  // namespace wormcube
