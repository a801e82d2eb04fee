// Permutations of nodes: by name, or image by image.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/arithmetic.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wormcube {

/// Where `permute` moves node r's block, with p nodes. Bits are those of the rank, a label.
class Permutation {
 public:
  enum Name : std::uint8_t {
    complement,    ///< to node p - 1 - r: every bit turned over
    bit_reversal,  ///< the bits read backwards; p = 2^d
    transpose,     ///< from row i, column j of s x s nodes to row j, column i; p = s^2
    shuffle,       ///< to node 2r modulo p - 1, the last stays: bits rotated to the left; p even
    butterfly,     ///< the first and the last bit exchanged; p = 2^d
  };
  static constexpr std::array names{complement, bit_reversal, transpose, shuffle, butterfly};

  Permutation(Name name = complement) : name_(name) {}  // NOLINT(google-explicit-constructor)
  /// Node r's block to node images[r]. Throws UsageError, naming the first repeated number, unless
  /// they are 0 .. n-1 in some order.
  explicit Permutation(std::vector<Rank> images);
  /// A name, or the images in the form of text(). Throws UsageError.
  static Permutation parse(std::string_view text);

  /// "shuffle"; "2,0,1", and of one node "0,".
  std::string text() const;
  /// The same, with at most 16 images.
  std::string short_text() const;

  /// The node that a node's block goes to, and the node whose block arrives.
  Rank destination(Rank rank, Rank nodes) const;
  Rank origin(Rank rank, Rank nodes) const;
  /// No block moves.
  bool is_identity(Rank nodes) const;
  /// Throws UsageError, in the algorithm's name, unless it permutes this many nodes.
  void require(std::string_view algorithm, Rank nodes) const;

  friend bool operator==(const Permutation&, const Permutation&) = default;

 private:
  Name name_;
  std::vector<Rank> images_, origins_;  // empty: by name
};

std::string_view to_string(Permutation::Name name);
inline std::string to_string(const Permutation& permutation) { return permutation.text(); }
/// "complement|bit-reversal|..": for help.
std::string permutation_names(std::string_view separator);

}  // namespace wormcube
