// The tag table: matches receives and messages by (context, source, tag), in the order sent.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/match_lists.hpp"
#include "wormcube/runtime/network/message.hpp"
#include "wormcube/runtime/network/tag_query.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace wormcube {

/// One node's table of posted receives and of unexpected messages, which arrived before their
/// receive. A reservation like any other of the network: a worm reserves it last, a receive nothing
/// else.
///
/// Threads     all functions but acquire: the thread that acts for the holder.
/// Invariants  no posted receive fits an unexpected message. Each list is in order of arrival;
///             worms of one source and context arrive in the order sent. Receives with wildcards
///             have a list of their own; of two that fit a message the lower `order` matches.
/// Memory      a short unexpected message is kept in a buffer, created and enlarged when needed, as
///             long as the number of messages and their bytes are within the limits. Otherwise it
///             is treated like a long one: its header is absorbed, its data stays with the sender.
class alignas(64) TagTable final : public Reservation {
 public:
  static constexpr std::size_t early_slots = 64;
  static constexpr Bytes unexpected_bytes = Bytes{256} << 10;
  struct Limits {
    std::size_t messages;
    Bytes bytes;
    Bytes header;  ///< what each counts besides its own bytes
  };
  static constexpr Limits usual{early_slots, unexpected_bytes, 0};
  /// What these short messages take in one table with the usual limits, if all are unexpected.
  static Bytes bytes_of_early(std::size_t messages, Bytes longest);

  /// Removes and returns the receive that was posted first of those that fit a message, or null.
  // Inlined where a message is copied, however often the flits' code calls it, too.
  [[gnu::always_inline]] Receive* take_receive(Rank from, Tag tag,
                                               std::uint32_t context = step_context) {
    return with_wildcard_.first == nullptr ? posted_.take({from, tag, context})
                                           : take_oldest_receive(from, tag, context);
  }
  [[gnu::always_inline]] void post(Receive& receive) {
    receive.order = next_order_++;
    receive.has_wildcard() ? with_wildcard_.append(receive) : posted_.append(receive);
  }
  /// Removes a receive; false: it is not posted any more.
  bool withdraw(Receive& receive);

  /// The unexpected message that arrived first of those that fit, or null. Without wildcards only.
  EarlyMessage* take_early(Rank from, Tag tag, std::uint32_t context = step_context);
  /// The same with wildcards too; return what was removed with recycle().
  EarlyMessage* look(const Seeker& seeker) const;
  EarlyMessage* take_early(const Seeker& seeker) {
    return oldest_ == nullptr ? nullptr : take_oldest_early(seeker);
  }
  /// An entry with a buffer for a short unexpected message, or null if there is no room.
  EarlyMessage* keep_short(const Worm& worm, const Limits& limits = usual);
  EarlyMessage& keep_absorbed(Worm& worm);
  /// In flits: an entry with a buffer for all of a message whose head has arrived, whatever its
  /// size. \return  also whether it counts as kept, so that its send does not wait
  std::pair<EarlyMessage*, bool> keep_arriving(Worm& worm, bool may_keep, const Limits& limits);
  void recycle(EarlyMessage* early, const Limits& limits = usual);

  /// A query that waits for a message.
  void wait_for_message(TagQuery& query);
  /// Removes a query that fits an unexpected message: probes first, in their order. Null: none.
  TagQuery* take_query(const EarlyMessage& early) {
    return queries_.first == nullptr ? nullptr : take_oldest_query(early);
  }
  /// Removes this message: a query has claimed it.
  void claim(EarlyMessage& early);

  /// The first message that was never received, or null. Only between runs, as reset().
  const EarlyMessage* leftover() const { return oldest_; }
  /// The peak bytes that were kept since the last call.
  Bytes take_peak() { return std::exchange(peak_, buffered_); }
  /// Calls f(early) for each that was not received, in order of arrival. Only while no thread is in
  /// the network.
  template <class F>
  void each_early(F&& f) const {
    for (const EarlyMessage* early = oldest_; early != nullptr; early = early->newer) f(*early);
  }
  void reset() noexcept;

  /// Prefetches what a short message touches.
  void prefetch() const noexcept {
    for (std::size_t line = 0; line < sizeof(TagTable); line += 64) {
      __builtin_prefetch(reinterpret_cast<const std::byte*>(this) + line, 1);
    }
  }

 private:
  Receive* take_oldest_receive(Rank from, Tag tag, std::uint32_t context);
  EarlyMessage* take_oldest_early(const Seeker& seeker);
  TagQuery* take_oldest_query(const EarlyMessage& early);
  EarlyMessage* look_for_any(const Seeker& seeker) const;
  EarlyMessage* fresh();
  void make_room(EarlyMessage& early, Bytes bytes);
  void append(EarlyMessage& early);
  void unlink(EarlyMessage& early);

  // What a short message to a posted receive touches comes first, then what an unexpected one
  // touches.
  MatchList<Receive> with_wildcard_;
  MatchLists<Receive> posted_;
  std::uint64_t next_order_ = 0;
  MatchLists<EarlyMessage> early_;
  EarlyMessage *oldest_ = nullptr, *newest_ = nullptr;
  EarlyMessage* unused_ = nullptr;  // a list by `next`, without own_
  MatchList<TagQuery> queries_;
  std::uint32_t buffers_ = 0;  // in use
  bool own_is_free_ = true;
  Bytes buffered_ = 0;                              // in these buffers
  Bytes not_kept_ = 0;                              // in buffers of messages whose send waits
  Bytes peak_ = 0;                                  // the most of both
  Bytes capacity_ = 0;                              // of all buffers there are
  std::vector<std::unique_ptr<EarlyMessage>> all_;  // owns every other
  EarlyMessage own_;  // most nodes need one at a time, so this is used first
};

}  // namespace wormcube
