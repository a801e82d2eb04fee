// One worker of several: its list, when it rests, and how it detects that no node runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/executor/work_list.hpp"
#include "wormcube/runtime/network/atomics.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

namespace wormcube {

template <class Item, class Atomics>
class BasicWorkPlace;

/// What all workers of a machine share.
///
/// Threads       begin, started: the thread that starts a run. The others: the workers.
/// Memory order  with_nodes_ is read after `busy` was found to be 0, or decremented by the worker
///               that ended the last of its nodes: both are acq_rel, so whoever makes it 0 sees
///               what all nodes did.
template <class Item, class Atomics = HostAtomics>
class BasicWorkers {
 public:
  using Place = BasicWorkPlace<Item, Atomics>;

  BasicBusy<Atomics>& busy() noexcept { return busy_; }
  void add(Place& place) { places_.push_back(&place); }

  /// A run begins; its starter counts as busy until all workers have their nodes.
  void begin() noexcept {
    busy_.begin();
    with_nodes_.store(places_.size(), std::memory_order_relaxed);
  }
  /// All have theirs. Calls all_wait() if no node runs any more, and not all have ended. The
  /// starter is busy meanwhile, so that nobody else calls it too.
  template <class F>
  void started(F&& all_wait) {
    while (nobody_is_busy()) {
      busy_.begin();
      all_wait();
    }
  }

  /// The caller was busy until now. True: no node runs, and not all have ended.
  [[nodiscard]] bool nobody_is_busy() noexcept {
    return busy_.end() && with_nodes_.load(std::memory_order_acquire) > 0;
  }
  /// A worker's nodes have ended. True: all have.
  [[nodiscard]] bool one_is_done() noexcept {
    return with_nodes_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  /// A worker with nodes that have not ended checks again whether none runs.
  void let_one_look() noexcept {
    for (Place* const place : places_) {
      if (place->has_nodes()) return place->look();
    }
  }

 private:
  BasicBusy<Atomics> busy_;
  typename Atomics::template Atomic<std::size_t> with_nodes_{0};  // workers that have some left
  std::vector<Place*> places_;
};

/// Threads       send, look, has_nodes: any. The others: the worker.
/// Invariants    the worker that is the last to become idle has found that no node runs. If it has
///               nodes that have not ended, the run cannot end while it notifies the host; else it
///               lets a worker check that has some.
/// Memory order  WorkList's and BasicWorkers'. A request to check that finds an earlier one pending
///               does no more: the worker takes the flag back by a read-modify-write, so it sees
///               what all requesters did before. left_ is written by the worker; others read it
///               when they have found that nobody is busy.
template <class Item, class Atomics = HostAtomics>
class BasicWorkPlace {
 public:
  /// Busy until it rests.
  explicit BasicWorkPlace(BasicWorkers<Item, Atomics>& all) : all_(all), given_(all.busy()) {
    all.busy().begin();
    all.add(*this);
  }

  /// Asks it to do this.
  void send(Item& item) noexcept {
    if (given_.push(item)) given_.wake();
  }
  /// Asks it to check again whether no node runs.
  void look() noexcept {
    if (!to_look_.exchange(true, std::memory_order_acq_rel)) send(look_);
  }
  bool has_nodes() const noexcept { return left_.load(std::memory_order_relaxed) > 0; }

  /// Calls f(item) for each item in its list, the oldest first.
  template <class F>
  void take(F&& f) {
    for (Item* item = given_.take(); item != nullptr;) {
      Item* const next = item->next;
      if (item == &look_) {
        to_look_.exchange(false, std::memory_order_acq_rel);
      } else {
        f(*item);
      }
      item = next;
    }
  }
  bool has_items() const noexcept { return given_.has_items(); }

  /// Sleeps until its list has an item, at most until the deadline: then a node of its own
  /// continues by itself.
  void doze(std::chrono::steady_clock::time_point until) noexcept { given_.doze(until); }

  void begin(std::size_t nodes) noexcept { left_.store(nodes, std::memory_order_relaxed); }
  /// One of its nodes has ended. True: all nodes of all workers have.
  [[nodiscard]] bool one_has_ended() noexcept {
    const std::size_t left = left_.load(std::memory_order_relaxed) - 1;
    left_.store(left, std::memory_order_relaxed);
    return left == 0 && all_.one_is_done();
  }

  /// It is idle: sleeps until it has work. Calls all_wait() if no node runs or will by itself, and
  /// not all have ended.
  template <class F>
  void rest(F&& all_wait) {
    if (!given_.rest()) return;
    if (all_.nobody_is_busy()) {
      if (has_nodes()) {
        if (given_.rouse()) all_wait();
        return;
      }
      all_.let_one_look();
    }
    given_.sleep();
  }

 private:
  BasicWorkers<Item, Atomics>& all_;
  Item look_;
  typename Atomics::template Atomic<std::size_t> left_{0};  // of its nodes, that have not ended
  alignas(64) WorkList<Item, Atomics> given_;
  typename Atomics::template Atomic<bool> to_look_{false};
};

}  // namespace wormcube
