// Copies and flits.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/body.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/network/unread.hpp"

#include <algorithm>

namespace wormcube {
namespace {

// As many flits as a queue holds go from the first channel to the last, then the next batch, so a
// capacity of one flit suffices. Returns for how many bytes there were flits.
Bytes pass_flits(const Worm& worm, std::size_t capacity) {
  const auto channels = worm.channels();
  if (channels.empty()) return worm.bytes;  // to the node itself: no link, no flit
  const auto channel = [&](std::size_t i) -> VirtualChannel& {
    return static_cast<VirtualChannel&>(*channels[i]);
  };
  for (std::size_t i = 0; i < channels.size(); ++i) channel(i).make_queue(capacity);
  Bytes left = worm.bytes, arrived = 0;
  Flit flit;
  for (bool tail_arrived = false; !tail_arrived;) {
    for (bool tail_sent = false; !tail_sent;) {
      const Flit next{.bytes = static_cast<std::uint32_t>(std::min(left, Flit::capacity)),
                      .tail = left <= Flit::capacity};
      if (!channel(0).try_push(next)) break;
      left -= next.bytes;
      tail_sent = next.tail;
    }
    for (std::size_t i = 1; i < channels.size(); ++i) {
      while (channel(i - 1).try_pop(flit)) {
        // Queues of the same capacity, and empty.
        [[maybe_unused]] const bool has_room = channel(i).try_push(flit);
        WORMCUBE_ASSERT(has_room);
      }
    }
    while (channel(channels.size() - 1).try_pop(flit)) {
      arrived += flit.bytes;
      tail_arrived = flit.tail;
    }
  }
  return arrived;
}

}  // namespace

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

void stream_body(const Worm& worm, Cursor to, std::size_t capacity) {
  if (worm.bytes > Flit::capacity) {
    [[maybe_unused]] const Bytes arrived = pass_flits(worm, capacity);
    WORMCUBE_ASSERT(arrived == worm.bytes);
  }
  copy_body(worm, to);
}

}  // namespace wormcube
