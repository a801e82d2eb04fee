// One task that works the routers of a block of nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/network/inbox.hpp"
#include "wormcube/runtime/network/routers.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace wormcube {

/// Threads  give, add: any thread. The others: the task's; reset: between runs.
class RouterTask {
 public:
  RouterTask(Routers& routers, int number);

  /// A worm that enters the network, or that has its tag table. Then the task must be called.
  void give(Worm& worm) noexcept { static_cast<void>(inbox_.put(worm)); }
  /// A lane that enters one of its routers, of another task; before its first flit.
  void add(LinkLane& lane) noexcept { static_cast<void>(new_lanes_.put(lane)); }
  void run() noexcept;
  void reset();

 private:
  bool pass();
  void take_given();
  void inject(Worm& worm);
  void look_at_crossings();
  bool turn(Input& input);
  bool has_flit(const Input& input) const;
  bool move(Input& input);
  bool begin(Input& input);
  bool take_output(Input& input);
  void granted(Input& input) noexcept;
  void release_output(Input& input);
  bool pass_on(Input& input, LinkLane& to);
  bool has_table(Input& input);
  bool eject(Input& input);
  void next_flit(Input& input, Flit& flit);
  void observe(const Input& input, const Flit& flit) {
    if (routers_.settings_.observer != nullptr && input.lane != nullptr) report(input, flit);
  }
  void report(const Input& input, const Flit& flit);
  void leave(Input& input);
  void end_message(Input& input);
  void fail_for_lost(const Worm& worm, Bytes arrived);
  void activate(Input& input) {
    if (input.is_active) return;
    input.is_active = true;
    active_.push_back(&input);
  }
  void call(int task) {
    if (called_[static_cast<std::size_t>(task)]) return;
    called_[static_cast<std::size_t>(task)] = true;
    to_call_.push_back(task);
  }

  Routers& routers_;
  const int number_;
  std::vector<Input*> active_, current_;            // that may be able to move; in this pass
  std::vector<LinkLane*> from_others_, to_others_;  // lanes that cross to another task
  std::vector<bool> called_;
  std::vector<int> to_call_;
  std::minstd_rand random_;
  alignas(64) BasicInbox<Waiter> inbox_;
  BasicInbox<LinkLane> new_lanes_;
};

}  // namespace wormcube
