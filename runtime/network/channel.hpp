// A virtual channel: one lane of a link.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/reservation.hpp"
#include "wormcube/runtime/node/node.hpp"
#include "wormcube/runtime/topology/routing.hpp"

#include <cstddef>
#include <cstdint>

namespace wormcube {

/// One lane of a link, and its counts. It takes one cache line.
///
/// Threads       the counts: the thread that acts for the worm that holds the reservation; they
///               pass from worm to worm with it.
class alignas(64) VirtualChannel final : public Reservation {
 public:
  VirtualChannel() = default;
  explicit VirtualChannel(Channel id) : id_(id) {}
  /// Before any thread has it.
  void set_id(Channel id) noexcept { id_ = id; }

  Channel id() const noexcept { return id_; }
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

 private:
  Channel id_ = 0;
  std::uint64_t run_ = 0;
  std::uint64_t messages_ = 0, blocked_ = 0;
  Bytes bytes_ = 0;
};
static_assert(sizeof(VirtualChannel) == 64);

}  // namespace wormcube
