// The tag table: which message a receive takes, by (source, tag), in the order sent.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/message.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace wormcube {

/// One node's table of posted receives and of messages that came before their receive. A
/// reservation like any other of the network: a worm reserves it last, a receive nothing else.
///
/// Threads     all functions but acquire: the thread that acts for the holder.
/// Invariants  for one (source, tag) there are posted receives or early messages, never both; each
///             list is in order of arrival; worms of one source and tag arrive in the order sent.
/// Memory      a short message that comes early is kept in one of `early_slots` buffers, made and
///             enlarged when needed; when they are all full it is treated like a long one: its
///             header is absorbed, its data stays with the sender.
class alignas(64) TagTable final : public Reservation {
 public:
  static constexpr std::size_t early_slots = 64;

  /// A message that was here before its receive.
  struct Early {
    Rank from = 0;
    Tag tag = 0;
    Bytes bytes = 0;
    Worm* worm = nullptr;  ///< absorbed: the data is in the sender's memory
    std::unique_ptr<std::byte[]> buffer;
    Bytes capacity = 0;  ///< of the buffer
    Early* next = nullptr;
    Span data() const { return {buffer.get(), bytes}; }
  };

  /// Takes the first posted receive for this (source, tag), or null.
  Receive* take_receive(Rank from, Tag tag);
  void post(Receive& receive);

  /// Takes the first early message from this (source, tag), or null; give it back with recycle().
  Early* take_early(Rank from, Tag tag);
  /// An early message with a buffer for a short message, or null if all are full.
  Early* keep_short(const Worm& worm);
  void keep_absorbed(Worm& worm);
  void recycle(Early* early);

  /// The first message that nobody received, or null. Only between runs, as reset().
  const Early* leftover() const;
  void reset() noexcept;

 private:
  // A step has few ops; with p ops the chains are p/16 long.
  static constexpr std::size_t buckets = 16;
  static std::size_t bucket(Rank from, Tag tag) {
    return (static_cast<std::size_t>(from) + 7U * static_cast<std::size_t>(tag)) % buckets;
  }
  template <class Item>
  struct List {
    Item* first = nullptr;
    Item* last = nullptr;
  };
  Early* fresh();
  void append(Early& early);

  std::array<List<Receive>, buckets> posted_;
  std::array<List<Early>, buckets> early_;
  std::vector<std::unique_ptr<Early>> all_;  // owns every Early ever made
  std::vector<Early*> unused_;
  std::size_t buffers_ = 0;  // in use
};

}  // namespace wormcube
