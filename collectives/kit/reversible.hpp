// Programs that run both ways: a gather is a scatter whose messages are reversed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/collectives/core/algorithm.hpp"

#include <span>

namespace wormcube {

/// Forwards, blocks go from those who have all to those who get their own; backwards, each message
/// goes from its receiver to its sender.
enum class Way : std::uint8_t { scatter, gather };

/// Blocks to send from, as an op keeps them: nothing writes to them.
inline Blocks only_read(const ConstBlocks& blocks) {
  const Span all = only_read(blocks.all());
  return blocks.uneven() ? Blocks(all, blocks.offsets()) : Blocks(all, blocks.count());
}

/// The data and messages of a scatter's call, or of the gather's that reverses it.
struct Reversible {
  Way way;
  Blocks all;  ///< of a node that has all: what a scatter reads and a gather writes
  Blocks own;  ///< of each node

  Reversible(Way w, const Call& call)
      : way(w),
        all(w == Way::scatter ? only_read(call.input) : call.output),
        own(w == Way::scatter ? call.output : only_read(call.input)) {}

  /// A scatter's send, and its receive.
  template <class Peer>
  Op give(Peer peer, Span data) const {
    return way == Way::scatter ? send(peer, data) : receive(peer, data);
  }
  template <class Peer>
  Op take(Peer peer, Span data) const {
    return way == Way::scatter ? receive(peer, data) : send(peer, data);
  }
  template <class Peer>
  Op give_pieces(Peer peer, std::span<const Span> pieces) const {
    return give(peer, Span{}).with_pieces(pieces);
  }
  template <class Peer>
  Op take_pieces(Peer peer, std::span<const Span> pieces) const {
    return take(peer, Span{}).with_pieces(pieces);
  }
  /// Copies what a scatter has in `held` to `place`; a gather the other way.
  void move(Node& node, Span held, Span place) const {
    node.local([&] { way == Way::scatter ? copy(held, place) : copy(place, held); });
  }
};

}  // namespace wormcube
