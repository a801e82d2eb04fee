// What a node program sees: one emulated computer, its steps, its memory, its views.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/function_ref.hpp"
#include "wormcube/runtime/node/memory.hpp"
#include "wormcube/runtime/node/op.hpp"
#include "wormcube/runtime/node/plan_cache.hpp"
#include "wormcube/runtime/topology/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace wormcube {

/// How a node's work on its own memory is charged: not at all, as permuting blocks, or as combining
/// two operands of a reduction.
enum class Charge : std::uint8_t { none, rearrange, combine };

class GridView;  // views.hpp
class GroupView;

/// One emulated computer, as its program sees it. Each executor (threads, fibers, a dry recording,
/// a proof) implements it; algorithms see nothing else.
///
/// A node program is a function of a Node that every node runs. It is oblivious if its control flow
/// depends on rank, size and block sizes only. Collectives are oblivious, and touch data in local()
/// only.
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
  /// The node `hops` away along a dimension; throws UsageError if there is none.
  Rank neighbour(int dimension, int hops) const {
    return topology().neighbour(rank(), dimension, hops);
  }

  /// Posts all sends and receives together and returns when all are complete. Every node takes
  /// every step, with no ops if it is idle. Messages between two nodes with one tag arrive in the
  /// order sent.
  ///
  /// A byte that is received into belongs to one piece of one receive of the step, and to no send:
  /// receives overlap neither each other nor sends. Sends may overlap sends. Dry runs and proofs
  /// refuse a step that breaks this rule. A Machine does so in a step of at most 16 pieces, so that
  /// the check does not slow a step down; nodes in MPI processes check nothing.
  ///
  /// Throws UsageError for a peer or move outside the topology, and for data that overlap;
  /// Deadlock, Stopped as the machine reports them.
  virtual void step(std::span<const Op> ops) = 0;
  void step(std::initializer_list<Op> ops) { step(std::span(ops.begin(), ops.size())); }
  void step() { step(std::span<const Op>{}); }

  /// Takes `steps` steps without ops.
  void idle(std::size_t steps) {
    while (steps-- > 0) step();
  }

  /// Names the steps from here to the next name or the end, for readers of a schedule: "two hops".
  /// record() keeps it; a run ignores it.
  virtual void phase(std::string_view /*name*/) {}

  /// Declares what the local() that follows computes: the number of operations on numbers, and the
  /// bytes of its own memory that it reads and writes. It serves to price a schedule: record()
  /// keeps it; a run ignores it.
  virtual void computes(double /*operations*/, double /*bytes*/) {}

  /// Work on own memory; skipped in a dry run. What a node does between two steps adds up. With a
  /// window (MachineOptions::window) it first completes the steps under way, and may throw Stopped
  /// or Deadlock as a step does; then the work is not done. It throws Stopped, too, after a step
  /// that was not completed because the machine stops: its data never arrived. The same holds for
  /// rearrange() and combine().
  void local(FunctionRef work) { this->work(Charge::none, 0, work); }
  /// Work that permutes `bytes` of blocks in own memory: charged as rearrangement.
  void rearrange(Bytes bytes, FunctionRef work) { this->work(Charge::rearrange, bytes, work); }
  /// Work that combines two operands of `bytes` each into one, in a reduction.
  void combine(Bytes bytes, FunctionRef work) { this->work(Charge::combine, bytes, work); }

  /// Private memory for as long as the result lives; accounted. Throws UsageError if the size is no
  /// size, such as that of an empty array less one.
  Memory memory(Bytes bytes, Purpose purpose = Purpose::staging) { return {*this, bytes, purpose}; }

  /// A plan: what an algorithm computes from its options, topology() and rank() alone. This node's
  /// first call computes it by make(); every later one finds it again, in later runs of the machine
  /// too. The reference lives as long as the machine.
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
  /// coordinate there. Throws UsageError if there is no such dimension.
  GridView along(int dimension);
  /// The part of the network through this node along several dimensions, which keep their shapes.
  /// Throws UsageError unless the dimensions are there and ascend.
  GridView along(std::span<const int> dimensions);
  GridView along(std::initializer_list<int> dimensions);
  /// The torus or mesh of each spacing-th node in every dimension, counted from this one: its
  /// coordinates and hops are multiples of the spacing here. Two nodes of a dimension share one
  /// cable, where either sign leads to the other, on a line as on a ring. Throws UsageError unless
  /// all dimensions are rings or lines, and of a multiple of the spacing.
  GridView every(int spacing);
  /// The nodes `members` (distinct, this one among them, the same list on each) as a complete
  /// network of their own: rank() is the position in the list, which must outlive the view. Moves
  /// in it are messages by rank, on the router's path.
  GroupView group(std::span<const Rank> members);

 protected:
  friend class Memory;
  friend class ForwardingNode;
  virtual void work(Charge charge, Bytes bytes, FunctionRef work) = 0;
  virtual Span acquire(Bytes bytes, Purpose purpose) = 0;
  virtual void release(Span data, Purpose purpose) noexcept = 0;
  /// This computer's plans, shared by all views of it.
  virtual PlanCache& plans() = 0;
};

[[noreturn]] void refuse_memory(Bytes bytes);

inline Memory::Memory(Node& node, Bytes bytes, Purpose purpose) : node_(&node), purpose_(purpose) {
  if (bytes > most_memory) refuse_memory(bytes);
  data_ = node.acquire(bytes, purpose);
}
inline Memory::~Memory() {
  if (data_.data() != nullptr) node_->release(data_, purpose_);
}

}  // namespace wormcube
