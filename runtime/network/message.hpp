// The two ends of a message in flight: the sender's worm and the receive that waits for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/channel.hpp"
#include "wormcube/runtime/network/completion.hpp"
#include "wormcube/runtime/network/reservation.hpp"
#include "wormcube/runtime/node/node.hpp"
#include "wormcube/runtime/node/requests.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace wormcube {

/// The context of the messages of steps.
inline constexpr std::uint32_t step_context = ~std::uint32_t{0};

struct Input;  // of a router (lane.hpp)

/// One end of a message that a node has under way.
struct Transfer : Waiter, Completion {
  explicit Transfer(Kind what) : Waiter(what) {}

  std::uint64_t step = 0;  ///< of the node, in which it was started

 protected:
  std::span<const Span> kept(std::span<const Span> pieces) {
    if (pieces.size() != 1) return pieces;
    piece_ = pieces.front();
    return std::span(&piece_, 1);
  }

 private:
  Span piece_;  // all data, if they are one: who moves them need not fetch what lies with the node
};

/// A message: its header holds path[0 .. reserved) and waits for path[reserved], if there is one.
///
/// Threads  one at a time acts for a worm: the sender's, or the one that received it from the
///          reservation it waited for. The Reservation that passes it on orders the two.
struct Worm : Transfer {
  Worm() : Transfer(Kind::worm) {}

  enum class State : std::uint8_t {
    travelling,  ///< header under way, or body streaming
    /// The destination knows the header, the path is free, the data waits in the sender's memory.
    absorbed,
    done,
  };

  Rank from = 0, to = 0;
  Tag tag = 0;
  std::uint32_t context = step_context;
  Bytes bytes = 0;
  std::span<const Span> data;  ///< the sender's memory, pinned until done
  void set_data(std::span<const Span> pieces) { data = kept(pieces); }
  bool synchronous = false;             ///< not done before a receive has matched it
  std::uint64_t note = 0;               ///< for the receiver
  const FunctionRef* action = nullptr;  ///< runs where it arrives, instead of a receive
  /// Injection port, virtual channels, ejection port, tag table.
  std::vector<Reservation*> path;
  /// What the path was computed from, so that a worm that takes the same path again keeps it.
  enum class Way : std::uint8_t { none, to_rank, by_move, by_moves };
  Way way = Way::none;
  Move move;
  std::size_t reserved = 0;
  State state = State::done;
  Worm* successor = nullptr;  ///< to launch when this is done: keeps order where routes differ
  bool follows = false;       ///< is another's successor
  Input* input = nullptr;     ///< in flits: where it arrives

  /// The virtual channels of its path.
  std::span<Reservation* const> channels() const {
    return std::span(path).subspan(1, path.size() - 3);
  }
};

/// What a message and its receive must have in common, at one node.
struct MatchKey {
  Rank from;
  Tag tag;
  std::uint32_t context;

  std::size_t hash() const {
    return static_cast<std::size_t>(from) + 7U * static_cast<std::size_t>(tag) +
           13U * static_cast<std::size_t>(context);
  }
  friend bool operator==(const MatchKey&, const MatchKey&) = default;
};

struct Receive;

/// A message that was here before its receive. The fields of the search lie in one cache line, a
/// short body in the next.
struct alignas(64) EarlyMessage {
  EarlyMessage* next = nullptr;                     ///< of its list
  EarlyMessage *older = nullptr, *newer = nullptr;  ///< of all that are here, in order of arrival
  Rank from = 0;
  Tag tag = 0;
  std::uint32_t context = step_context;
  Bytes bytes = 0;
  std::uint64_t note = 0;
  /// Absorbed: the data is in the sender's memory. In flits: its send waits until it is received.
  Worm* worm = nullptr;
  std::array<std::byte, 64> own;        ///< the buffer of a short body
  std::unique_ptr<std::byte[]> buffer;  ///< of a longer one
  Bytes capacity = 0;                   ///< of that
  Receive* taker = nullptr;             ///< in flits: has taken it, and waits for its tail
  bool is_arriving = false;             ///< in flits: its tail is not here yet
  /// Without its body.
  static constexpr Bytes header = 88;
  using Key = MatchKey;
  Key key() const { return {from, tag, context}; }
  Span data() { return {bytes <= sizeof own ? own.data() : buffer.get(), bytes}; }
};

/// A search for a message in the tag table of a node, and the message that it has found.
struct Seeker : Transfer {
  explicit Seeker(Kind what) : Transfer(what) {}

  Rank from = 0, to = 0;  ///< from: any_source for all
  Tag tag = 0;            ///< any_tag for all
  std::uint32_t context = step_context;
  std::uint32_t choice = 0;  ///< not 0: picks one of several sources that match
  // The message.
  Rank source = 0;
  Tag source_tag = 0;
  Bytes source_bytes = 0;
  std::uint64_t source_note = 0;

  using Key = MatchKey;
  Key key() const { return {from, tag, context}; }
  bool has_wildcard() const { return from == any_source || tag == any_tag; }
  bool fits(Rank its_from, Tag its_tag, std::uint32_t its_context) const {
    return context == its_context && (from == any_source || from == its_from) &&
           (tag == any_tag || tag == its_tag);
  }
  /// \param message  a worm or an unexpected message
  void found_message(const auto& message) {
    source = message.from, source_tag = message.tag, source_bytes = message.bytes;
    source_note = message.note;
  }
};

/// A posted receive: takes a message, now or when it arrives.
struct Receive : Seeker {
  Receive() : Seeker(Kind::receive) {}

  bool exact = true;    ///< the message has `bytes`; else at most `bytes` are received
  bool unread = false;  ///< bypasses the caches: Op::unread()
  bool done = true;
  bool was_early = false;  ///< the message was there first
  Bytes bytes = 0;
  std::span<const Span> data;
  void set_data(std::span<const Span> pieces) { data = kept(pieces); }
  EarlyMessage* claimed = nullptr;  ///< what a query has claimed; null: search for one
  // The tag table's.
  Receive* next = nullptr;  ///< of its list
  std::uint64_t order = 0;  ///< in which they were posted
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
  void write(ConstSpan from) {
    write(from, [](Span to, ConstSpan part) { std::memcpy(to.data(), part.data(), part.size()); });
  }
  /// The same with copy(to, from), of equal sizes.
  template <class Copy>
  void write(ConstSpan from, Copy&& copy) {
    while (!from.empty()) {
      const Span to = rest();
      WORMCUBE_ASSERT(!to.empty());
      const Bytes count = std::min(from.size(), to.size());
      copy(to.first(count), from.first(count));
      advance(count);
      from = from.subspan(count);
    }
  }

 private:
  std::span<const Span> pieces_;
  std::size_t index_ = 0;
  Bytes offset_ = 0;
};

}  // namespace wormcube
