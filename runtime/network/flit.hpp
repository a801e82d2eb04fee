// A flit: what passes the queue of a lane at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/message.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace wormcube {

/// Up to 64 bytes of a message, by value. A message of m bytes has max(1, ceil(m / 64)) flits; an
/// empty one has one that is head and tail.
struct Flit {
  static constexpr Bytes most_bytes = 64;

  std::array<std::byte, most_bytes> payload;
  Worm* worm;         ///< of a head: its message
  std::uint32_t hop;  ///< of a head: the entry of its path that it takes next
  std::uint8_t bytes;
  bool head, tail;

  Span data() { return std::span(payload).first(bytes); }
};
static_assert(sizeof(Flit) == 80);

/// The flits of a message of this many bytes.
constexpr std::uint64_t flits_of(Bytes bytes) {
  return bytes == 0 ? 1 : (bytes - 1) / Flit::most_bytes + 1;
}

}  // namespace wormcube
