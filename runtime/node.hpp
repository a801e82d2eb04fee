// The interface of a node program: one emulated computer, its steps, its memory, its views.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/op.hpp"
#include "wormcube/runtime/plan_cache.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace wormcube {

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

/// What a node's work on its own memory is charged as: nothing, permuting blocks, or combining two
/// operands of a reduction.
enum class Charge : std::uint8_t { none, rearrange, combine };

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

class GridView;
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
  Rank coordinate(int dimension) const { return topology().coordinate(rank(), dimension); }
  /// The node `hops` away along a dimension; throws UsageError where there is none.
  Rank neighbour(int dimension, int hops) const {
    return topology().neighbour(rank(), dimension, hops);
  }

  /// Posts all sends and receives together and returns when all are complete. Every node takes
  /// every step, with no ops if it is idle. Messages between two nodes with one tag arrive in the
  /// order sent.
  ///
  /// A byte that is received into belongs to one piece of one receive of the step, and to no send:
  /// receives overlap neither each other nor sends. Sends may overlap sends. Dry runs and proofs
  /// refuse whatever breaks this; a Machine what does so in a step of at most 16 pieces, so that a
  /// step is not slowed by its check; nodes in MPI processes check nothing.
  ///
  /// Throws UsageError for a peer or move outside the topology, and for data that overlap; Deadlock,
  /// Stopped as the machine reports them.
  virtual void step(std::span<const Op> ops) = 0;
  void step(std::initializer_list<Op> ops) { step(std::span(ops.begin(), ops.size())); }
  void step() { step(std::span<const Op>{}); }

  /// Takes `steps` steps without ops.
  void idle(std::size_t steps) {
    while (steps-- > 0) step();
  }

  /// Names the steps from here to the next name or the end, for those who look at a schedule: "two
  /// hops". Kept by record(); a run knows nothing of it.
  virtual void phase(std::string_view /*name*/) {}

  /// Says what the local() that follows computes: so many operations on numbers, over so many bytes
  /// of own memory, read and written. For those who price a schedule: kept by record(); a run knows
  /// nothing of it.
  virtual void computes(double /*operations*/, double /*bytes*/) {}

  /// Work on own memory; skipped in a dry run. What a node does between two steps adds up. With a
  /// window (MachineOptions::window) it first completes the steps under way, and may throw Stopped or
  /// Deadlock as a step does; then the work is not done. The same goes for rearrange() and combine().
  void local(Work work) { this->work(Charge::none, 0, work); }
  /// Work that permutes `bytes` of blocks in own memory: charged as rearrangement.
  void rearrange(Bytes bytes, Work work) { this->work(Charge::rearrange, bytes, work); }
  /// Work that combines two operands of `bytes` each into one, in a reduction.
  void combine(Bytes bytes, Work work) { this->work(Charge::combine, bytes, work); }

  /// Private memory for as long as the result lives; accounted.
  Memory memory(Bytes bytes, Purpose purpose = Purpose::staging) { return {*this, bytes, purpose}; }

  /// What an algorithm computes from its options, topology() and rank() alone: made by make() in the
  /// first call of this node, found again in every later one, of later runs of the machine too. The
  /// reference lives as long as the machine.
  template <class Plan, class Make>
  const Plan& plan(std::string_view algorithm, std::span<const std::int64_t> options, Make make) {
    return plans().get<Plan>(algorithm, options, topology(), rank(), make);
  }
  template <class Plan, class Make>
  const Plan& plan(std::string_view algorithm, std::initializer_list<std::int64_t> options,
                   Make make) {
    return plan<Plan>(algorithm, std::span(options.begin(), options.size()), make);
  }

  /// The line or ring through this node along one dimension, as a node of its own: rank() is the
  /// coordinate there. Throws UsageError for a dimension that is not there.
  GridView along(int dimension);
  /// The part of the network through this node along several dimensions, which keep their shapes.
  /// Throws UsageError unless the dimensions are there and ascend.
  GridView along(std::span<const int> dimensions);
  GridView along(std::initializer_list<int> dimensions);
  /// The torus or mesh of each spacing-th node in every dimension, counted from this one: its
  /// coordinates and hops are multiples of the spacing here. Two nodes of a dimension are one cable,
  /// where either sign leads to the other, on a line as on a ring. Throws UsageError unless all
  /// dimensions are rings or lines, and of a multiple of the spacing.
  GridView every(int spacing);
  /// The nodes `members` (distinct, this one among them, the same list on each) as a complete
  /// network of their own: rank() is the position in the list, which must outlive the view. Moves in
  /// it are messages by rank, on the router's way.
  GroupView group(std::span<const Rank> members);

 protected:
  friend class Memory;
  friend class ForwardingNode;
  virtual void work(Charge charge, Bytes bytes, Work work) = 0;
  virtual Span acquire(Bytes bytes, Purpose purpose) = 0;
  virtual void release(Span data, Purpose purpose) noexcept = 0;
  /// The plans of this computer, shared by all views of it.
  virtual PlanCache& plans() = 0;
};

inline Memory::Memory(Node& node, Bytes bytes, Purpose purpose)
    : node_(&node), data_(node.acquire(bytes, purpose)), purpose_(purpose) {}
inline Memory::~Memory() {
  if (data_.data() != nullptr) node_->release(data_, purpose_);
}

/// A node that passes everything on to another: what views, traces and tests override parts of.
class ForwardingNode : public Node {
 public:
  explicit ForwardingNode(Node& node) : node_(node) {}
  Rank rank() const override { return node_.rank(); }
  const Topology& topology() const override { return node_.topology(); }
  using Node::step;
  void step(std::span<const Op> ops) override { node_.step(ops); }
  void phase(std::string_view name) override { node_.phase(name); }
  void computes(double operations, double bytes) override { node_.computes(operations, bytes); }

 protected:
  Node& node() const { return node_; }
  void work(Charge charge, Bytes bytes, Work work) override { node_.work(charge, bytes, work); }
  Span acquire(Bytes bytes, Purpose purpose) override { return node_.acquire(bytes, purpose); }
  void release(Span data, Purpose purpose) noexcept override { node_.release(data, purpose); }
  PlanCache& plans() override { return node_.plans(); }

 private:
  Node& node_;
};

/// A node of a part of the network. Steps of a view are steps of the node below it: all members of
/// all views of one partition take them together, so global step numbers stay global.
class View : public ForwardingNode {
 public:
  const Topology& topology() const final { return topology_; }
  Rank rank() const final { return rank_; }
  using Node::step;
  void step(std::span<const Op> ops) final;

 protected:
  /// The topology must outlive the view: a plan of the node below, for instance.
  View(Node& node, const Topology& topology, Rank rank)
      : ForwardingNode(node), topology_(topology), rank_(rank) {}
  virtual Rank below(Rank member) const = 0;  // the member's rank in the node below
  /// All messages do: moves only say between whom.
  virtual bool goes_by_rank() const { return false; }
  /// Else: the move as the node below makes it. `at` is the member that it starts at; a view whose
  /// moves depend on it keeps it up to date along an op's moves.
  virtual Move below(Move move, Rank& /*at*/) const { return move; }

 private:
  const Topology& topology_;
  Rank rank_;
  std::vector<Op> ops_;  // translated; kept so that steady state does not allocate
  std::vector<Move> moves_;
};

/// Some dimensions of the node below, and there each spacing-th node.
class GridView final : public View {
 private:
  friend class Node;
  struct Plan {
    Topology topology;
    std::vector<int> dimensions;  // below, of each of the view's
    std::vector<Rank> strides;    // below, from one node of the view to the next
    int spacing;
    Rank base;  // below, of the view's node 0
    Rank rank;
  };
  static Plan make(const Node& node, std::span<const int> dimensions, int spacing);

  GridView(Node& node, const Plan& plan) : View(node, plan.topology, plan.rank), plan_(plan) {}
  Rank below(Rank member) const override;
  Move below(Move move, Rank& at) const override;
  const Plan& plan_;
};
using LineView = GridView;  ///< of one dimension

class GroupView final : public View {
 public:
  /// Throws UsageError if this node is not among the members, a member is not a node, or is there
  /// twice.
  GroupView(Node& node, std::span<const Rank> members);

 private:
  bool goes_by_rank() const override { return true; }
  Rank below(Rank member) const override { return members_[member]; }
  std::span<const Rank> members_;
};

inline GridView Node::along(std::initializer_list<int> dimensions) {
  return along(std::span(dimensions.begin(), dimensions.size()));
}
inline GroupView Node::group(std::span<const Rank> members) { return {*this, members}; }

/// The node at the other end of an op of node `rank`: by rank, or where the moves lead. Throws
/// UsageError if there is none.
Rank peer_of(const Topology& topology, Rank rank, const Op& op);

/// Two ops of a step of node `rank` whose data overlap, in words: "a send of 8 bytes and the receive
/// from 1 of 8 bytes overlap in memory". One op twice: of its pieces two overlap.
std::string overlap_text(const Topology& topology, Rank rank, const Op& one, const Op& other);

/// x modulo p, in 0 .. p-1 also for negative x.
constexpr Rank mod(Rank x, Rank p) { return (x % p + p) % p; }

/// The least t with 2^t >= x, for x >= 1.
constexpr int log2_ceiling(Rank x) { return std::bit_width(static_cast<unsigned>(x) - 1U); }

}  // namespace wormcube
