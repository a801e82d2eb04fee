// A virtual channel: the bounded flit queue of one lane of a link.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/reservation.hpp"
#include "wormcube/runtime/node/node.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

#include <boost/lockfree/spsc_queue.hpp>

namespace wormcube {

/// The unit that moves between queues: it stands for the next 64 bytes of its message, or fewer. It
/// holds neither the bytes nor their address: they go from the sender's memory to the receiver's in
/// one copy, when the tail has left the last channel. So nothing in a channel can dangle.
struct Flit {
  static constexpr Bytes capacity = 64;
  std::uint32_t bytes = 0;
  bool tail = false;
};

/// One lane of a link. It takes one cache line: of a large network most channels carry headers and
/// short messages only, and have no queue.
///
/// Threads       make_queue, push and pop: the thread that acts for the worm that holds the
///               reservation. Both ends pass from worm to worm with it.
/// Invariants    empty whenever the reservation is free or passes on.
/// Memory order  Boost's queue orders its own two ends; the reservation orders one worm's use
///               before the next's, the making of the queue among it.
class alignas(64) VirtualChannel final : public Reservation {
 public:
  VirtualChannel() = default;
  explicit VirtualChannel(Channel id) : id_(id) {}
  /// Before any thread has it.
  void set_id(Channel id) noexcept { id_ = id; }

  Channel id() const noexcept { return id_; }
  /// Called before the first push: creates a queue for this many flits, the same number every time.
  /// May throw std::bad_alloc.
  void make_queue(std::size_t flits) {
    if (queue_ == nullptr) queue_ = std::make_unique<Queue>(flits);
  }
  [[nodiscard]] bool try_push(const Flit& flit) noexcept { return queue_->push(flit); }
  [[nodiscard]] bool try_pop(Flit& flit) noexcept { return queue_->pop(flit); }

  // The counts belong to one numbered run. The holder uses them, and calls is_new() first.
  /// True once a run: the counts restart.
  [[nodiscard]] bool is_new(std::uint64_t run) noexcept {
    if (run_ == run) return false;
    run_ = run;
    messages_ = bytes_ = blocked_ = 0;
    return true;
  }
  void count_message(Bytes bytes) noexcept {
    ++messages_;
    bytes_ += bytes;
  }
  /// The holder's header had to wait for it.
  void count_blocked() noexcept { ++blocked_; }
  bool is_used_in(std::uint64_t run) const noexcept { return run_ == run; }
  std::uint64_t messages() const noexcept { return messages_; }
  Bytes bytes() const noexcept { return bytes_; }
  std::uint64_t blocked() const noexcept { return blocked_; }

  /// Empties the queue and frees the reservation. Only between runs.
  void reset() noexcept {
    Reservation::reset();
    if (queue_ != nullptr) queue_->reset();
  }

 private:
  using Queue = boost::lockfree::spsc_queue<Flit>;

  Channel id_ = 0;
  std::uint64_t run_ = 0;
  std::uint64_t messages_ = 0, blocked_ = 0;
  Bytes bytes_ = 0;
  std::unique_ptr<Queue> queue_;
};
static_assert(sizeof(VirtualChannel) == 64);

}  // namespace wormcube
