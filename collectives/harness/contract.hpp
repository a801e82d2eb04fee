// What every operation promises, as data: which block stands where before and after. The oracle of
// runs and proofs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/registry.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace wormcube {

/// The content of one block: block `block` of the input of node `origin`.
struct Label {
  Rank origin = 0, block = 0;
  Bytes bytes = 0;
  friend bool operator==(const Label&, const Label&) = default;
};

/// What a block's bytes are made of.
enum class Pattern {
  words,  // 64-bit words mixed from seed, label and index; any size, the last word cut short
  tags,   // 64-bit tags that remember label and index exactly; sizes of 8, 16, .. up to 512 KiB
};

/// An operation's pre- and postcondition on a number of nodes.
struct Contract {
  Operation operation;
  Rank nodes;
  Rank root = 0;
  Bytes block_bytes = 0;
  std::uint64_t seed = 0;
  Pattern pattern = Pattern::words;

  /// The blocks that a node gives.
  Rank input_blocks(Rank rank) const;
  Label input(Rank rank, Rank block) const;
  /// The blocks that a node ends with: what each place of its output must hold.
  Rank output_blocks() const;
  Label output(Rank rank, Rank block) const;

  /// The input lies where the output will.
  bool in_place() const { return operation == Operation::broadcast; }
  bool uneven() const { return operation == Operation::alltoallv; }
  /// Where each block of a node starts, and where the last one ends.
  std::vector<Bytes> input_offsets(Rank rank) const;
  std::vector<Bytes> output_offsets(Rank rank) const;

 private:
  Label label(Rank origin, Rank block) const;
};

/// The size of an uneven block: from 0 to twice block_bytes; a quarter of them are empty, many are
/// odd. With tags they are multiples of 8.
Bytes uneven_bytes(const Contract& contract, Rank source, Rank destination);

/// Writes all input blocks of a node.
void fill_input(const Contract& contract, Rank rank, Span input);
/// Writes an output of which every byte is wrong, so that what nobody delivers is noticed.
void spoil_output(const Contract& contract, Rank rank, Span output);

/// What comparing one node's output found.
struct Findings {
  bool compared = false;
  std::uint64_t wrong_bytes = 0;
  // Tags: places that do not have theirs. Barrier: nodes that had not entered.
  std::uint64_t missing = 0;
  std::uint64_t foreign = 0;  // tags: places that have that of another place
  std::string first;          // the first difference, in words
};
Findings compare_output(const Contract& contract, Rank rank, ConstSpan output);

/// The findings of one run of a program on all nodes. Each node writes to its own entry; read when
/// all have ended.
class Verification {
 public:
  explicit Verification(Rank nodes) : nodes_(nodes) {}

  Findings& of(Rank rank) { return nodes_[rank]; }
  std::uint64_t wrong_bytes() const { return sum(&Findings::wrong_bytes); }
  /// Every node compared its output and found nothing wrong.
  bool passed() const { return delivered() && exactly_once() && wrong_bytes() == 0; }
  /// Tags: every node compared, and every tag is in its place.
  bool delivered() const { return all_compared() && sum(&Findings::missing) == 0; }
  /// Tags: every node compared, and no tag stands in the place of another.
  bool exactly_once() const { return all_compared() && sum(&Findings::foreign) == 0; }
  /// The first difference of the lowest rank that has one; empty if there is none.
  std::string first() const;

  /// Barrier: nodes that have entered.
  std::atomic<Rank> entered = 0;

 private:
  std::uint64_t sum(std::uint64_t Findings::*count) const;
  bool all_compared() const;
  std::vector<Findings> nodes_;
};

/// The one program text of run, record and proof: allocates input and output, fills them, calls the
/// algorithm, compares. Filling and comparing are local work, so that a dry run has the algorithm's
/// steps and nothing else.
///
/// \param verification  one for each run, for as many nodes; nullptr: nothing is filled or compared
/// Throws UsageError for tags in blocks that are no multiple of 8 bytes; what the algorithm throws.
std::function<void(Node&)> collective_program(const Algorithm& algorithm,
                                              const Parameters& parameters, Bytes block_bytes,
                                              std::uint64_t seed, Verification* verification,
                                              Pattern pattern = Pattern::words);

}  // namespace wormcube
