// Values of a schedule that says what it moves: words of nodes, blocks and parts, and their names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/op.hpp"
#include "wormcube/runtime/topology/rank.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace wormcube {

/// A word by its number: node r alone is word r.
using WordId = std::uint32_t;

/// Nodes whose blocks are combined in this order, each word kept once.
class Words {
 public:
  /// Nodes first .. last-1.
  struct Run {
    Rank first, last;
    friend bool operator==(const Run&, const Run&) = default;
  };

  explicit Words(Rank nodes) : nodes_(nodes) {}

  Rank nodes() const { return nodes_; }
  bool is_single(WordId word) const { return word < static_cast<WordId>(nodes_); }
  /// The word of these nodes, at least one.
  WordId of(std::span<const Rank> nodes);
  /// The word of nodes first .. last-1, at least one.
  WordId interval(Rank first, Rank last);
  /// The nodes of `left`, then those of `right`.
  WordId join(WordId left, WordId right);
  /// The same nodes in ascending order.
  WordId sorted(WordId word);
  /// A node in both words.
  std::optional<Rank> shared(WordId left, WordId right) const;
  /// Whether all nodes of a word are in the other.
  bool contains(WordId whole, WordId part) const;
  std::size_t size(WordId word) const;
  Rank front(WordId word) const;
  /// The nodes in their order.
  std::vector<Rank> nodes_of(WordId word) const;
  /// "5", "{0..3 7}".
  std::string text(WordId word) const;
  /// The memory of all words.
  double bytes() const;

 private:
  WordId keep(std::span<const Run> runs);
  std::span<const Run> runs_of(WordId word, Run& single) const;

  Rank nodes_;
  std::vector<Run> runs_;            // of all words of several nodes
  std::vector<std::size_t> starts_;  // into runs_, one a word
  std::unordered_multimap<std::uint64_t, WordId> by_hash_;
  std::unordered_map<std::uint64_t, WordId> joined_;
  std::unordered_map<WordId, WordId> sorted_;
};

/// One block of a word, or a part of it.
struct NamedValue {
  WordId word = 0;
  Rank block = 0, part = 0;
  friend bool operator==(const NamedValue&, const NamedValue&) = default;
};

/// How values are printed, and how many bytes they have.
struct ValueForm {
  bool several_blocks = false;  ///< a node of the operation gives several blocks
  Rank parts = 1;
  Bytes element = 1;
  std::optional<Bytes> block;                      ///< the size of every block
  std::map<std::pair<Rank, Rank>, Bytes> sizes{};  ///< of single blocks: (node, block)

  /// The bytes of block `block` of a node; nothing if the file does not say.
  std::optional<Bytes> block_bytes(Rank node, Rank block) const;
  std::optional<Bytes> bytes(const Words& words, const NamedValue& value) const;
};

/// The canonical names of values: runs of parts, then of blocks, then of nodes become one name.
std::string names_text(const Words& words, const ValueForm& form,
                       std::span<const NamedValue> values);
std::string name_text(const Words& words, const ValueForm& form, const NamedValue& value);

/// Of a block of `bytes`, cut into `parts` by whole elements: the bytes before part k.
constexpr Bytes part_start(Bytes bytes, Bytes element, Rank parts, Rank k) {
  const Bytes elements = bytes / element;
  const auto pieces = static_cast<Bytes>(parts), before = static_cast<Bytes>(k);
  return (elements / pieces * before + elements % pieces * before / pieces) * element;
}

}  // namespace wormcube
