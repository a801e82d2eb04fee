// The two ends of a message in flight: the sender's worm and the receive that waits for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/channel.hpp"
#include "wormcube/runtime/network/reservation.hpp"
#include "wormcube/runtime/node.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace wormcube {

/// A message: its header holds path[0 .. reserved) and waits for path[reserved], if there is one.
///
/// Threads  one at a time acts for a worm: the sender's, or whichever gave it the reservation that
///          it waited for. What passes it on, a Reservation, orders the one before the other.
struct Worm : Waiter {
  Worm() : Waiter(Kind::worm) {}

  enum class State : std::uint8_t {
    travelling,  ///< header under way, or body streaming
    /// The destination knows the header, the path is free, the data waits in the sender's memory.
    absorbed,
    done,
  };

  Rank from = 0, to = 0;
  Tag tag = 0;
  Bytes bytes = 0;
  std::span<const Span> data;  ///< the sender's memory, pinned until done
  /// Injection port, virtual channels, ejection port, tag table.
  std::vector<Reservation*> path;
  std::size_t reserved = 0;
  State state = State::done;
  Worm* successor = nullptr;  ///< to launch when this is done: keeps order where routes differ
  bool follows = false;       ///< is another's successor
};

/// A posted receive.
struct Receive : Waiter {
  Receive() : Waiter(Kind::receive) {}
  Rank from = 0, to = 0;
  Tag tag = 0;
  Bytes bytes = 0;
  std::span<const Span> data;
  bool done = true;
  Receive* next_posted = nullptr;  ///< tag table's list
};

/// Walks over the bytes of a list of pieces.
class Cursor {
 public:
  explicit Cursor(std::span<const Span> pieces) : pieces_(pieces) {}
  /// The rest of the current piece, empty only at the end.
  Span rest() {
    while (index_ < pieces_.size() && offset_ == pieces_[index_].size()) ++index_, offset_ = 0;
    return index_ < pieces_.size() ? pieces_[index_].subspan(offset_) : Span{};
  }
  void advance(Bytes bytes) { offset_ += bytes; }
  /// Copies up to to.size() bytes out, from here on; returns how many there were.
  Bytes read(Span to);
  /// Copies bytes in, from here on; there must be room.
  void write(ConstSpan from);

 private:
  std::span<const Span> pieces_;
  std::size_t index_ = 0;
  Bytes offset_ = 0;
};

}  // namespace wormcube
