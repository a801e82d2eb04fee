// Marked elements: 64-bit handles that remember which ranks' elements they combine, in which order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/dataflow/values.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace wormcube::mpi {

/// What a program sees of an element.
using Handle = std::uint64_t;

/// What a handle stands for.
struct Mark {
  enum class Kind : std::uint8_t {
    value,      ///< a word, a block and an element
    unwritten,  ///< what a buffer holds before the call
    broken      ///< combined from something that is not one element of several ranks
  };
  WordId word = 0;
  Rank block = 0, element = 0;
  Rank rank = 0;  ///< that combined it; otherwise whose input or buffer it is
  Kind kind = Kind::value;
  std::uint32_t left = 0, right = 0;  ///< numbers of what was combined, 0: nothing
};

/// The marks of a call.
///
/// Handles are numbers, mixed by a bijection of 64 bits. Numbers stay below 2^32, so of bytes that
/// come from two handles, from arithmetic or from elsewhere only one in four billion is a mark.
class Marks {
 public:
  explicit Marks(Rank ranks) : words_(ranks) {}

  /// Forgets all marks; their handles are never used again.
  void begin_call();

  Handle input(Rank rank, Rank block, Rank element);
  Handle unwritten(Rank rank, Rank element);
  /// The result of an operator on two handles, whatever they are.
  Handle combined(Rank rank, Handle left, Handle right);

  /// The number of a mark of this call.
  std::optional<std::uint32_t> number_of(Handle handle) const;
  const Mark& operator[](std::uint32_t number) const { return marks_[number - first_]; }
  /// Whether it is a mark of an earlier call.
  bool is_earlier(Handle handle) const;

  /// Why the result of combining can be no part of a right one; empty: it can.
  /// \param in_order  the operator does not commute
  std::string trouble(const Mark& combined, bool in_order);
  /// "{0..3}", "{0 2}.5"; "nothing (never written)", "a value that is not an element (bytes 0x12)".
  std::string text(Handle handle, bool several_blocks) const;
  std::string text(const Mark& mark, bool several_blocks) const;
  Words& words() { return words_; }

 private:
  Handle add(const Mark& mark);

  Words words_;
  std::uint64_t first_ = 1;  // the number of marks_[0]
  std::vector<Mark> marks_;
};

}  // namespace wormcube::mpi
