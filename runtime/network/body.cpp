// Copies of a body, whole or in part.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/body.hpp"

#include "wormcube/runtime/network/unread.hpp"

#include <algorithm>

namespace wormcube {
void copy_body(const Worm& worm, Cursor to) {
  if (worm.data.size() == 1) {
    const Span from = worm.data.front(), room = to.rest();
    if (from.size() <= room.size()) {
      if (!from.empty()) std::memcpy(room.data(), from.data(), from.size());
      return;
    }
  }
  for (const Span piece : worm.data) to.write(piece);
}

void copy_body_past_caches(const Worm& worm, Cursor to) {
  for (const Span piece : worm.data) to.write(piece, copy_unread);
  settle_unread();
}

void copy_body_first(const Worm& worm, Bytes bytes, Cursor to) {
  for (const Span piece : worm.data) {
    const Bytes now = std::min(bytes, piece.size());
    to.write(piece.first(now));
    bytes -= now;
  }
}

}  // namespace wormcube
