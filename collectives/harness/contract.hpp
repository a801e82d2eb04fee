// The pre- and postcondition of every operation, as data: which block lies where before and after.
// The oracle of runs and proofs, derived from the operation's row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/collectives/harness/number_stream.hpp"
#include "wormcube/runtime/base/host/cores.hpp"
#include "wormcube/runtime/machine/team.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <semaphore>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

namespace wormcube {

/// What a block's bytes are made of.
enum class Pattern : std::uint8_t {
  /// Any size. Data that moves: words mixed from seed, origin, block and index. Data that is
  /// reduced: the operator's operands.
  words,
  /// Elements that remember their origin. Data that moves: 8 bytes of origin, block and index,
  /// blocks up to 512 KiB. Data that is reduced: intervals of ranks (interval_reduction), or, if
  /// the call's operator commutes, multisets of ranks; 16 bytes. All salted with the seed: no
  /// constant that a program writes is right.
  tags,
};

/// The largest block of Pattern::tags: 16 bits number its elements.
inline constexpr Bytes largest_tagged_block = Bytes{1} << 19;

/// The start of each block of a node, and the end of the last one. Blocks of one size need no
/// table: those of p nodes would have p^2 entries.
class Offsets {
 public:
  Offsets(Bytes block_bytes, Rank blocks)
      : block_bytes_(block_bytes), size_(static_cast<std::size_t>(blocks) + 1) {}
  explicit Offsets(std::vector<Bytes> table) : size_(table.size()), table_(std::move(table)) {}
  Bytes operator[](std::size_t block) const {
    return table_.empty() ? block * block_bytes_ : table_[block];
  }
  std::size_t size() const { return size_; }
  Bytes back() const { return (*this)[size_ - 1]; }
  /// Empty for blocks of one size.
  std::span<const Bytes> table() const { return table_; }

 private:
  Bytes block_bytes_ = 0;
  std::size_t size_;
  std::vector<Bytes> table_;
};

/// An operation's pre- and postcondition on a number of nodes.
struct Contract {
  Operation operation;
  Rank nodes;
  Arguments arguments = {};
  Bytes block_bytes = 0;
  std::uint64_t seed = 0;
  Pattern pattern = Pattern::words;
  bool in_place = false;  ///< if the operation offers it, the input lies in the output
  bool commutes = false;  ///< the call's operator, and with tags the one that tracks ranks
  /// The sizes of all pairs' blocks, if the algorithm needs them: one table for all nodes.
  std::shared_ptr<const std::vector<Bytes>> pair_sizes = {};

  Instance instance() const { return {nodes, arguments}; }
  /// The size of block `block` of the input of node `origin`.
  Bytes block_size(Rank origin, Rank block) const;
  Bytes size(const Content& content) const { return block_size(content.first, content.block); }
  /// The unit of sizes: every block is a whole number of these.
  Bytes element_bytes() const;

  Rank gives(Rank rank) const { return operation->gives(instance(), rank); }
  Rank ends_with(Rank rank) const { return operation->ends_with(instance(), rank); }
  Content result(Rank rank, Rank block) const { return operation->result(instance(), rank, block); }
  bool uneven() const { return operation->sizes != Sizes::equal; }
  Offsets input_offsets(Rank rank) const;
  Offsets output_offsets(Rank rank) const;
  /// Call::sizes, but for pair_sizes.
  std::vector<Bytes> known_sizes() const;
  /// The block of a node's output that holds its input; -1 if the input has memory of its own.
  Rank place_of_input(Rank rank) const;

  /// Throws UsageError unless blocks are whole elements, and tags fit.
  void require_sizes() const;
};

/// What blocks must hold in the end. Reductions of real operators are computed once, rank by rank,
/// when it is created; everything else is a function of the place.
class Oracle {
 public:
  explicit Oracle(const Contract& contract);

  /// Writes a node's input; and one block of it.
  void write_input(Rank rank, Span input) const;
  void write_input_block(Rank rank, Rank block, Span data) const;
  /// Writes what a block must hold.
  void write(const Content& content, Span block) const;
  const Contract& contract() const { return contract_; }
  /// Its memory, in bytes.
  static double bytes(const Contract& contract);

 private:
  void write_operand(Rank origin, Rank block, Span data) const;

  Contract contract_;
  std::map<std::pair<Rank, Rank>, std::vector<std::byte>> reduced_;  // by (last, block)
};

/// The result of comparing one node's output.
struct Findings {
  bool compared = false;
  std::uint64_t wrong_bytes = 0;
  std::uint64_t wrong_elements = 0;  ///< tags; for a barrier: nodes that had not entered
  std::string first;                 ///< a description of the first difference
  /// The nodes whose blocks are wrong, if each block has the data of one node.
  std::set<Rank> wrong_sources = {};
};

/// Which data has arrived at which node: each tag may arrive once, and in a reduction each
/// combination of the same ranks' blocks. (The order-tracking operator detects blocks that are
/// combined twice.) Not for several threads.
///
/// A bit for each tag and node, if these take at most 1.2 GB; otherwise the tags that have arrived
/// are kept in order and looked through, node by node, by finish(). (Combinations are not.)
class Arrivals {
 public:
  /// \param elements  that will arrive at all nodes together; 0: tags are not kept in order
  explicit Arrivals(const Contract& contract, double elements = 0);
  /// False if counting takes too much memory, or the operation moves nothing.
  bool counted() const { return counted_; }
  /// The memory of counting if every node receives, in bytes.
  static double bytes(const Contract& contract, double elements = 0);
  void add(Rank to, std::span<const Span> pieces);
  /// When all have arrived.
  void finish();
  std::uint64_t repeated() const { return repeated_; }
  const std::string& first() const { return first_; }

 private:
  using Combination = std::array<std::uint64_t, 2>;  // the bytes of an element
  struct Hash {
    std::size_t operator()(const Combination& c) const { return c[0] * 0x9e3779b97f4a7c15U ^ c[1]; }
  };
  static constexpr double most_bytes = 1.2e9, bytes_per_combination = 48;

  void add_tags(Rank to, ConstSpan piece);
  void add_repeated(Rank to, std::uint64_t times, std::uint64_t first_place);
  std::uint64_t all_places() const {
    return static_cast<std::uint64_t>(contract_.nodes) * blocks_per_node_ * elements_per_block_;
  }
  bool by_bits() const;
  void add_combination(Rank to, ConstSpan element);
  double expected_bytes() const;

  const Contract& contract_;
  bool counted_;
  std::uint64_t salt_, blocks_per_node_, elements_per_block_;
  std::vector<std::vector<bool>> seen_;  // of tags, by node
  std::vector<NumberStream> streams_;    // the same, in order
  std::vector<std::uint64_t> places_;    // of a piece's tags among all that a node may get
  double stream_bytes_ = 0;
  std::vector<std::unordered_set<Combination, Hash>> combinations_;  // by node
  std::size_t combinations_kept_ = 0;
  std::uint64_t repeated_ = 0;
  std::string first_;
};

/// The findings of one run on all nodes. Each node writes to its own entry; they are read when all
/// have ended.
class Verification {
 public:
  /// \param team  of the machine that runs it: each of its processes creates one
  explicit Verification(const Contract& contract, Team& team = team_of_one())
      : oracle(contract),
        entered(contract.operation->moves_data ? nullptr : team.counter()),
        nodes_(static_cast<std::size_t>(contract.nodes)) {}

  Findings& of(Rank rank) { return nodes_[static_cast<std::size_t>(rank)]; }
  std::uint64_t wrong_bytes() const { return sum(&Findings::wrong_bytes); }
  std::uint64_t wrong_elements() const { return sum(&Findings::wrong_elements); }
  /// Every node compared its output and found no error.
  bool passed() const;
  /// The first difference of the lowest rank that has one; empty if there is none.
  std::string first() const;
  /// Who sent a wrong block to whom, ascending.
  std::vector<std::pair<Rank, Rank>> wrong_pairs() const;

  const Oracle oracle;
  /// A node that compares holds a block of the expected data: as many at a time as there are cores.
  std::counting_semaphore<> comparing{usable_cores()};
  /// For a barrier: nodes that have entered it, in all processes.
  const std::unique_ptr<SharedCounter> entered;

 private:
  std::uint64_t sum(std::uint64_t Findings::*count) const;
  std::vector<Findings> nodes_;
};

/// One node's side of a collective, with its buffers in the node's private memory: the program that
/// is run, recorded and proved. In a dry run nothing is filled or compared.
class CollectiveNode {
 public:
  /// \param verification  nullptr: nothing is filled or compared
  CollectiveNode(Node& node, const Collective& collective, const Contract& contract,
                 Verification* verification);

  /// The memory for the places of blocks, over all nodes, in bytes.
  static double table_bytes(const Contract& contract);

  /// Fills the input, and overwrites every byte of the output with wrong data. Local work.
  void prepare();
  /// Prepares again for a call that will be compared. Local work.
  void enter();
  /// The call.
  void operator()();
  /// Compares output and input with what they must hold. Local work.
  void compare();
  Span output() const { return output_.span(); }

 private:
  Span input() const;
  void compare_outputs(Findings& findings);

  Node& node_;
  const Collective& collective_;
  const Contract& contract_;
  Verification* verification_;
  Offsets input_offsets_, output_offsets_;
  std::vector<Bytes> sizes_;
  Memory output_, own_input_;
};

/// Element `index` of the block that `origin` gives for `block`, where blocks are tags that move.
std::uint64_t tag_in(const Contract& contract, Rank origin, Rank block, std::uint64_t index);

/// The contract of a collective on this many nodes; with tags the operator is the order-tracking
/// one.
Contract contract_of(const Collective& collective, Rank nodes, Bytes block_bytes,
                     std::uint64_t seed, Pattern pattern = Pattern::words, bool in_place = false);
/// The collective with the contract's operator: with tags, the order-tracking one.
Collective witnessed(Collective collective, const Contract& contract);

/// A program that prepares, calls once, and compares.
/// \param verification  one for each run; nullptr: nothing is filled or compared
/// Throws UsageError for blocks that are not whole elements.
std::function<void(Node&)> collective_program(const Collective& collective,
                                              const Contract& contract, Verification* verification);

/// The schedule of a call with blocks of this size. Throws UsageError if its dry run needs more
/// memory or time than available.
Schedule record_call(const Collective& collective, const Topology& topology, Bytes block_bytes,
                     bool in_place = false);

}  // namespace wormcube
