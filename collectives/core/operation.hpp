// An operation: a row that says what each node gives and must end with.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/cost.hpp"
#include "wormcube/collectives/core/permutation.hpp"
#include "wormcube/collectives/core/reduction.hpp"
#include "wormcube/runtime/node/arithmetic.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace wormcube {

/// A shift's distance, which may be negative, modulo p: 0 .. p-1.
constexpr Rank shift_distance(std::int64_t by, Rank p) {
  return static_cast<Rank>((by % p + p) % p);
}

/// The arguments of a collective call besides its data: the same on every node. An operation
/// ignores arguments that it does not have.
struct Arguments {
  Rank root = 0;        ///< broadcast, reduce, scatter, gather
  std::int64_t by = 1;  ///< shift: node r's block goes to node r + by modulo p
  /// k_broadcast, k_alltoall: who gives; k_reduce, k_gather: who gets. Ascending; empty: node 0
  /// alone.
  std::vector<Rank> sources = {};
  Permutation permutation = Permutation::complement;  ///< permute
  Reduction reduction = {};                           ///< what reduces
};

/// An operation on a number of nodes.
struct Instance {
  Rank nodes;
  const Arguments& arguments;
  Rank source(Rank i) const { return arguments.sources.empty() ? 0 : arguments.sources[i]; }
  Rank sources() const {
    return arguments.sources.empty() ? 1 : static_cast<Rank>(arguments.sources.size());
  }
  bool is_source(Rank rank) const;
  /// How many sources have a lower rank: for a source, its number.
  Rank sources_below(Rank rank) const;
  Rank root() const { return arguments.root; }
  /// The node that a shift's block comes from.
  Rank shifted_from(Rank rank) const {
    return mod(rank - shift_distance(arguments.by, nodes), nodes);
  }
};

/// What a block holds: block `block` of the input of node `first`, or of nodes first .. last-1
/// combined in this order. Nothing (first == last): the block stays as it was.
struct Content {
  Rank first = 0, last = 0, block = 0;
  friend bool operator==(const Content&, const Content&) = default;
};
constexpr Content from(Rank origin, Rank block) { return {origin, origin + 1, block}; }

/// What the size of a block depends on if blocks may differ (the `v` operations): the node that
/// gives it, its number there, or both.
enum class Sizes : std::uint8_t { equal, by_origin, by_block, by_both };

/// One row. Functions get the operation's instance and a node.
struct OperationRow {
  std::string_view name, summary;
  /// Blocks that a node gives; block b of node r is Content from(r, b).
  Rank (*gives)(const Instance&, Rank rank);
  /// Blocks that a node ends with, and what they must hold.
  Rank (*ends_with)(const Instance&, Rank rank);
  Content (*result)(const Instance&, Rank rank, Rank block);
  /// The place in the output where a node's only input block may lie (in place), -1 if nowhere;
  /// nullptr: not offered.
  Rank (*place_of_input)(const Instance&, Rank rank) = nullptr;
  bool always_in_place = false;  // for broadcast: there is no other input
  bool rooted = false, reduces = false, shifts = false, permutes = false, has_sources = false;
  bool sources_get = false;  ///< the sources of has_sources receive: k_reduce, k_gather
  /// False for a barrier: it only promises that no node leaves before all have entered.
  bool moves_data = true;
  Sizes sizes = Sizes::equal;
  /// A node's data in blocks, what nccl-tests calls the size; 0: it moves none.
  double (*data)(const Instance&) = nullptr;
  /// The share of it that must cross the network (nccl-tests' bus bandwidth).
  double (*bus_factor)(double p) = nullptr;
  LowerBound (*bound)(const Limits&, const Instance&) = nullptr;
};

/// An operation: its row, by reference. Equal by name: a shared object may have a copy of the row.
class Operation {
 public:
  constexpr Operation(const OperationRow& row)
      : row_(&row) {}  // NOLINT(google-explicit-constructor)
  Operation(const OperationRow&&) = delete;
  constexpr const OperationRow* operator->() const { return row_; }
  friend constexpr bool operator==(Operation a, Operation b) {
    return a.row_ == b.row_ || a->name == b->name;
  }

 private:
  const OperationRow* row_;
};

/// "root 0", "sum on double", ..: the operation's arguments; empty if it has none.
std::string arguments_text(Operation operation, const Arguments& arguments);

}  // namespace wormcube
