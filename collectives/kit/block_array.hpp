// A node's blocks during an exchange: where each lies, and what happens to them, planned once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/blocks.hpp"
#include "wormcube/runtime/node/node.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace wormcube {

/// The block that node `source` has for node `destination`; or what a digit adds to the two ranks.
struct BlockName {
  Rank source = 0, destination = 0;

  friend BlockName operator+(BlockName a, BlockName b) {
    return {a.source + b.source, a.destination + b.destination};
  }
  friend BlockName operator*(Rank factor, BlockName a) {
    return {factor * a.source, factor * a.destination};
  }
  friend bool operator==(const BlockName&, const BlockName&) = default;
};

/// One digit of a place: what each of its values adds to the name of the block there.
using Digit = std::vector<BlockName>;

/// A digit whose value i adds i times `step`.
Digit multiples(Rank radix, BlockName step);
/// One digit for several of radix 2, the first most significant, in Gray order: neighbouring values
/// differ in one of them.
Digit in_gray_order(std::span<const Digit> bits);

/// Where blocks lie: place `first` + i holds the block base + (what the digits of i add), i written
/// in the mixed radix of the digits, the first most significant.
///
/// On a line of 4 nodes, node 2: {{2, 0}, {multiples(4, {0, 1})}} has the blocks of node 2 for all,
/// by destination; {{0, 2}, {multiples(4, {1, 0})}} those of all for node 2, by source.
struct Places {
  BlockName base;
  std::vector<Digit> digits;
  Rank first = 0;

  Rank count() const;
  /// Calls f(place, name) for all places, ascending.
  template <class F>
  void for_each(F&& f) const;
};

/// Where all blocks of a node lie: one or several ranges of places.
class Layout {
 public:
  Layout(Places places) : Layout(std::vector{std::move(places)}) {}  // NOLINT: is one
  explicit Layout(std::vector<Places> parts);
  std::span<const Places> parts() const { return parts_; }
  Rank count() const { return count_; }

 private:
  std::vector<Places> parts_;
  Rank count_ = 0;
};

/// `count` neighbouring places.
struct Slice {
  Rank first, count;
  friend bool operator==(const Slice&, const Slice&) = default;
};
using Slices = std::vector<Slice>;

/// The blocks of one node during an exchange, in an array of places, and the plan of what happens
/// to them. An algorithm's plan calls the functions below once, in order of time; run() then
/// performs them with the data of a call, any number of times:
///
///     BlockArray array(p);
///     array.lay_out(first);                       // the caller's blocks, in their places
///     array.exchange(Move{0, 4}, Move{0, -4}, {{p / 2, p / 2}});   // one step
///     array.rearrange(first_then, second);        // the same blocks, before and after
///     array.exchange(..);
///     array.deliver(second_then);
///
/// Layouts are declared, not tracked: an exchange puts blocks with other names into the same
/// places, and the algorithm declares these names. A proof checks whether they are right.
///
/// There are two arrays in the node's memory, and a place is in one of them at a time. Arriving
/// blocks go to the other one, so they need no extra memory and are never copied back: they stay
/// there until they are sent, rearranged or delivered. rearrange() reads each block where it is,
/// and moves all into the first array.
///
/// A plan has layouts and slices. The first run() with data computes the copies of own work, so
/// that dry runs stay small; it keeps them if they are few, so that machines of many nodes stay
/// small. The same holds for the ops, which serve the next call whose arrays get the same memory,
/// as in equal calls mostly.
///
/// Threads  one node's.
class BlockArray {
 public:
  /// \param places  the most blocks that the node ever has, gaps between them included
  explicit BlockArray(Rank places) : places_(places) {}

  // Own work.

  /// Copies the caller's blocks in. The first layout is free in most papers.
  void lay_out(Layout to, Charge charge = Charge::none);
  /// Moves all blocks from their places to others.
  void rearrange(Layout from, Layout to, Charge charge = Charge::rearrange);
  /// Copies the blocks to the caller, by source.
  void deliver(Layout from);

  // One step each. A message's slices are one after the other in it; slices must not overlap.

  /// Sends the blocks of `going` and receives others into `coming`.
  void exchange(Move to, Move from, const Slices& going, const Slices& coming);
  /// The same if both are the same places.
  void exchange(Move to, Move from, const Slices& both) { exchange(to, from, both, both); }
  void exchange(Rank partner, const Slices& both);
  void send(Move to, const Slices& going);
  void receive(Move from, const Slices& coming);
  void idle(Rank steps = 1);
  /// Names the steps that follow: see Node::phase. A literal, or text that lives as long.
  void phase(std::string_view name);

  /// The exchange.
  /// \param part, parts  of each block only its part-th of `parts` parts (see wormcube::part)
  void run(Node& node, ConstBlocks out, Blocks in, Rank part = 0, Rank parts = 1) const;

 private:
  // The plan as run() reads it, from front to back: in a call of many nodes none of it is in the
  // near caches, so there are few jumps. The tables that it refers to are separate.
  struct Action {
    enum class Kind : std::uint8_t { work, step, phase } kind;
    std::uint32_t index;
  };
  struct Step {
    std::uint32_t first_message, messages;
    Rank times = 1;
  };
  struct Message {
    Op op;  // without its data
    std::uint32_t first_piece, pieces;
  };
  /// A copy within or between the arrays, or between an array and the caller's blocks.
  struct Copy {
    Rank from, to, count;
  };
  struct Copies {
    std::vector<Copy> all;
    Rank alike = 0;  ///< the count that all have, or 0
  };
  struct OwnWork {
    Charge charge;
    bool from_caller, to_caller;
    Rank blocks;
    std::optional<Copies> kept = {};
  };
  /// messages_ as ops, with the data of a call whose arrays lie there.
  struct Ops {
    const std::byte *first = nullptr, *second = nullptr;
    Bytes bytes = 0;
    std::vector<Span> data;
    std::vector<Op> ops;
  };
  /// The layout from which copies of own work are computed; none: the caller's blocks.
  struct Layouts {
    std::optional<Layout> from, to;
    std::vector<Rank> seams;  // as they were before it
  };

  Slices where(const Slices& slices) const;
  void arrive(const Slices& slices);
  void add(Layouts layouts, Charge charge);
  void add(Step step);
  void add(const Op& op, const Slices& pieces);
  /// The messages added since the last step.
  void add_step();
  Copies copies(const Layouts& work) const;
  void make(Ops& ops, std::byte* first, std::byte* second, Bytes bytes) const;

  Rank places_;
  /// Ascending places at which the blocks alternate between the arrays; they begin in the first.
  std::vector<Rank> seams_;
  std::vector<Action> actions_;
  std::vector<Step> steps_;
  std::vector<Message> messages_;
  /// Places first, .., of the first array; or, from places_ on, of the second.
  Slices pieces_;
  std::vector<std::string_view> phases_;
  mutable std::vector<OwnWork> works_;
  std::vector<Layouts> layouts_;  // of works_
  mutable Ops kept_;              // of the last call, for one with the same addresses
};

template <class F>
void Places::for_each(F&& f) const {
  // sums[d]: the base and what the first d digits add.
  std::vector<std::size_t> index(digits.size(), 0);
  std::vector<BlockName> sums(digits.size() + 1, base);
  const Rank all = count();
  std::size_t changed = 0;
  for (Rank i = 0; i < all; ++i) {
    for (std::size_t d = changed; d < digits.size(); ++d) {
      sums[d + 1] = sums[d] + digits[d][index[d]];
    }
    f(first + i, sums.back());
    changed = digits.size();
    while (changed > 0 && ++index[changed - 1] == digits[changed - 1].size()) index[--changed] = 0;
    if (changed > 0) --changed;
  }
}

}  // namespace wormcube
