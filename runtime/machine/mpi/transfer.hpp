// The two ends of a message between nodes of MPI processes, and messages before their receive.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/hash.hpp"
#include "wormcube/runtime/machine/mpi/transport.hpp"
#include "wormcube/runtime/node/node.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

namespace wormcube {

/// What a message and its receive must have in common, at any node of this process.
struct MpiMatchKey {
  Rank from, to;
  Tag tag;

  std::size_t hash() const {
    const auto word = [](auto number) { return std::uint64_t{static_cast<std::uint32_t>(number)}; };
    return mixed((word(from) << 32 | word(to)) ^ word(tag) * 0x9e3779b97f4a7c15U);
  }
  friend bool operator==(const MpiMatchKey&, const MpiMatchKey&) = default;
};

/// A send or a receive of a step that is under way; in its node's list until the step ends.
struct MpiTransfer {
  Rank from = 0, to = 0;
  Tag tag = 0;
  Bytes bytes = 0;
  std::span<const Span> pieces;  // the node's memory
  bool is_send = false;
  bool done = true;
  MpiTransfer* next = nullptr;  // MatchLists'
  using Key = MpiMatchKey;
  Key key() const { return {from, to, tag}; }
};

/// A message that was here before its receive: kept in a buffer, pinned in the memory of a sender
/// of this process, or announced by another process.
struct EarlyTransfer {
  Rank from = 0, to = 0;
  Tag tag = 0;
  Bytes bytes = 0;
  MpiTransfer* sender = nullptr;  // pinned
  int process = -1;               // announced by
  Header header;                  // announced
  std::unique_ptr<std::byte[]> buffer;
  Bytes capacity = 0;
  EarlyTransfer* next = nullptr;
  using Key = MpiMatchKey;
  Key key() const { return {from, to, tag}; }
};

/// Unexpected messages, kept for reuse.
class EarlyStore {
 public:
  EarlyTransfer& fresh(Rank from, Rank to, Tag tag, Bytes bytes) {
    if (unused_.empty()) unused_.push_back(&all_.emplace_back());
    EarlyTransfer& early = *unused_.back();
    unused_.pop_back();
    early.from = from;
    early.to = to;
    early.tag = tag;
    early.bytes = bytes;
    early.sender = nullptr;
    early.process = -1;
    return early;
  }
  static Span room(EarlyTransfer& early) {
    if (early.capacity < early.bytes) {
      early.capacity = std::bit_ceil(std::max<Bytes>(early.bytes, 64));
      early.buffer = std::make_unique_for_overwrite<std::byte[]>(early.capacity);
    }
    return {early.buffer.get(), early.bytes};
  }
  void recycle(EarlyTransfer& early) { unused_.push_back(&early); }

 private:
  std::deque<EarlyTransfer> all_;
  std::vector<EarlyTransfer*> unused_;
};

}  // namespace wormcube
