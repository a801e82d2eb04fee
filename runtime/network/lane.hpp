// What a router has: inputs, outputs, and the lanes between it and its neighbours.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/channel.hpp"
#include "wormcube/runtime/network/flit.hpp"
#include "wormcube/runtime/network/link_fault.hpp"
#include "wormcube/runtime/network/match_lists.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <boost/lockfree/spsc_queue.hpp>

namespace wormcube {

class LinkLane;
struct Input;

/// Where flits leave a router: a lane or an ejection port. One worm has it from its head to its
/// tail; heads get it in the order in which they asked.
///
/// Threads  the router's.
struct Output {
  Input* holder = nullptr;
  MatchList<Input> waiting;  ///< for it
};

/// How the flits of a message are received.
struct Arrival {
  Receive* receive = nullptr;     ///< that the head has found; or
  EarlyMessage* early = nullptr;  ///< the buffer of an unexpected message
  bool keeps = false;  ///< the message is kept: its send is complete when its tail is here
  bool is_matched = false, has_table = false, waits_for_table = false;
  Span buffer;  ///< of `early`
  Cursor to{{}};
  Bytes room = 0;  ///< where the next bytes go, and how many more are wanted
  Bytes arrived = 0;
};

/// Where flits enter a router: the end of a lane, or an injection port. It passes one message at a
/// time.
///
/// Threads     the router's.
/// Invariants  `worm` and `output` belong to the message whose head has been looked at and whose
///             tail has not left. An input without flits, or that waits for an output, room or a
///             tag table, is in no list of its router, and is put there by what ends the wait.
struct Input {
  LinkLane* lane = nullptr;  ///< null: an injection port
  Worm* worm = nullptr;
  Output* output = nullptr;
  std::uint32_t hop = 0;     ///< the entry of the path that `output` is
  std::uint64_t passed = 0;  ///< flits of the message that have left
  bool waits = false;        ///< for the output
  bool is_active = false;
  Input* next = nullptr;  ///< of those that wait for it
  // An injection port's.
  MatchList<Waiter> worms;  ///< that follow
  Cursor from{{}};
  Bytes left = 0;  ///< bytes that have not entered the network
  // At the destination.
  Arrival arrival;

  bool is_last_hop() const { return hop + 2 == worm->path.size(); }
};

/// A virtual channel of a link, as its two routers see it: a bounded queue of flits.
///
/// Threads       the Output, push, channel, lost and the counts of pushes: the task that works the
///               router where the link begins. The Input, front, pop and `waited`: the one where it
///               ends. Between runs, and while all wait: the thread that runs the machine.
/// Memory order  Boost's queue: a push releases the flit, and what was written before it; front()
///               acquires that. A pop releases the place, the push that uses it acquires that.
class LinkLane final : public Output {
 public:
  LinkLane(VirtualChannel& of, std::size_t flits, int from_task, int to_task, LinkFault its_fault)
      : channel(of),
        from(from_task),
        to(to_task),
        fault(its_fault),
        capacity_(flits),
        queue_(flits) {
    input.lane = this;
  }

  VirtualChannel& channel;
  const int from, to;  ///< the tasks that work its routers
  const LinkFault fault;
  LinkLane* next = nullptr;  ///< of those that are new to `to`
  bool is_known = false;
  std::uint64_t lost = 0;  ///< flits, by its fault

  bool has_room() const { return queue_.write_available() > 0; }
  /// There must be room.
  void push(const Flit& flit, std::uint64_t run) {
    if (run_ != run) {
      run_ = run;
      found_.clear();
    }
    const std::size_t others = capacity_ - queue_.write_available();
    if (others >= found_.size()) found_.resize(others + 1);
    ++found_[others];
    [[maybe_unused]] const bool had_room = queue_.push(flit);
    WORMCUBE_ASSERT(had_room);
  }
  bool has_flits() const { return queue_.read_available() > 0; }
  /// There must be one.
  Flit& front() { return queue_.front(); }
  void pop() { queue_.pop(); }

  /// How many pushed flits have found 0, 1, .. others in the queue, in this run. Only between runs.
  const std::vector<std::uint64_t>& occupancy() const { return found_; }
  bool is_used_in(std::uint64_t run) const { return run_ == run; }
  std::uint64_t waited_in(std::uint64_t run) const { return waited_run_ == run ? waited_ : 0; }
  /// In a turn of its router its front flit could not move.
  void count_wait(std::uint64_t run) {
    if (waited_run_ != run) waited_ = 0;
    waited_run_ = run;
    ++waited_;
  }
  std::size_t capacity() const { return capacity_; }
  /// Whose flit is in front, or null. Only while no task works.
  const Worm* worm_in_front() const {
    if (held() == 0) return nullptr;
    return input.worm != nullptr ? input.worm : queue_.front().worm;
  }
  /// Only while no task works.
  std::size_t held() const { return queue_.read_available(); }
  void reset() {
    queue_.reset();
    holder = nullptr;
    waiting = {};
    lost = 0;
    input = {};
    input.lane = this;
  }

  alignas(64) Input input;

 private:
  std::uint64_t waited_ = 0, waited_run_ = 0;
  const std::size_t capacity_;
  alignas(64) std::uint64_t run_ = 0;
  std::vector<std::uint64_t> found_;
  boost::lockfree::spsc_queue<Flit> queue_;
};

}  // namespace wormcube
