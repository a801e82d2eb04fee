// One worker of several: what it is handed, when it rests, and who finds that no node runs.
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
/// Threads       begin, started: who starts a run. The others: the workers.
/// Memory order  with_nodes_ is read after `busy` was found to be 0, or decremented by who has
///               ended the last of its nodes: both are acq_rel, so who makes it 0 sees what all
///               nodes did.
template <class Item, class Atomics = HostAtomics>
class BasicWorkers {
 public:
  using Place = BasicWorkPlace<Item, Atomics>;

  BasicBusy<Atomics>& busy() noexcept { return busy_; }
  void add(Place& place) { places_.push_back(&place); }

  /// A run begins; who starts it counts as busy until it has handed all workers their nodes.
  void begin() noexcept {
    busy_.begin();
    with_nodes_.store(places_.size(), std::memory_order_relaxed);
  }
  /// All have theirs. Calls all_wait() if no node runs any more, and not all have ended. Who
  /// started them is busy meanwhile, so that nobody else calls it too.
  template <class F>
  void started(F&& all_wait) {
    while (nobody_is_busy()) {
      busy_.begin();
      all_wait();
    }
  }

  /// Who asks was busy until now. True: no node runs, and not all have ended.
  [[nodiscard]] bool nobody_is_busy() noexcept {
    return busy_.end() && with_nodes_.load(std::memory_order_acquire) > 0;
  }
  /// A worker's nodes have ended. True: all have.
  [[nodiscard]] bool one_is_done() noexcept {
    return with_nodes_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  /// A worker with nodes that have not ended looks again whether none runs.
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
///               nodes that have not ended, the run cannot end while it tells the host; else it
///               lets one look that has some.
/// Memory order  WorkList's and BasicWorkers'. Who asks it to look when it has been asked already
///               leaves it at that: the worker takes that back by a read-modify-write, so it sees
///               what all who asked did before. left_ is written by the worker; others read it when
///               they have found that nobody is busy.
template <class Item, class Atomics = HostAtomics>
class BasicWorkPlace {
 public:
  /// Busy until it rests.
  explicit BasicWorkPlace(BasicWorkers<Item, Atomics>& all) : all_(all), given_(all.busy()) {
    all.busy().begin();
    all.add(*this);
  }

  /// It is to do this.
  void send(Item& item) noexcept {
    if (given_.push(item)) given_.wake();
  }
  /// It is to find out again whether no node runs.
  void look() noexcept {
    if (!to_look_.exchange(true, std::memory_order_acq_rel)) send(look_);
  }
  bool has_nodes() const noexcept { return left_.load(std::memory_order_relaxed) > 0; }

  /// Calls f(item) for each that it was handed, the oldest first.
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

  /// Sleeps until it is handed something, or until then; a node of its own will go on by itself.
  void doze(std::chrono::steady_clock::time_point until) noexcept { given_.doze(until); }

  void begin(std::size_t nodes) noexcept { left_.store(nodes, std::memory_order_relaxed); }
  /// One of its nodes has ended. True: all nodes of all workers have.
  [[nodiscard]] bool one_has_ended() noexcept {
    const std::size_t left = left_.load(std::memory_order_relaxed) - 1;
    left_.store(left, std::memory_order_relaxed);
    return left == 0 && all_.one_is_done();
  }

  /// Nothing to do: sleeps until there is. Calls all_wait() if no node runs, nor will by itself,
  /// and not all have ended.
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
