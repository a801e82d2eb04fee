// What the writers of schedules' texts share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/schedule/schedule.hpp"
#include "wormcube/runtime/schedule/text_words.hpp"

#include <iterator>
#include <utility>

#include <fmt/core.h>
#include <fmt/format.h>

namespace wormcube {

using TextBuffer = fmt::memory_buffer;

template <class... Arguments>
void print_to(TextBuffer& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
}

/// Puts ", " before every part but the first.
class TextParts {
 public:
  explicit TextParts(TextBuffer& text) : text_(text) {}
  TextBuffer& next() {
    if (!std::exchange(first_, false)) print_to(text_, ", ");
    return text_;
  }

 private:
  TextBuffer& text_;
  bool first_ = true;
};

inline void write_op(TextBuffer& text, const Schedule& schedule, Rank rank, const OpRecord& op) {
  const bool is_send = op.kind == Op::Kind::send;
  print_to(text, "{} {} {} {}", is_send ? "send" : "receive", op.bytes, is_send ? "to" : "from",
           op.peer);
  if (op.moves > 0) print_to(text, " by");
  for (const Move move : schedule.moves(rank, op)) {
    print_to(text, " {}{:+}", move.dimension, move.hops);
  }
  if (op.tag != 0) print_to(text, " tag {}", op.tag);
}

}  // namespace wormcube
