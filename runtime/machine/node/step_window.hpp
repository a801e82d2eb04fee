// The steps of a node that are under way.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/machine/node/step_messages.hpp"

#include <cstddef>
#include <span>

namespace wormcube {

/// A ring of steps. With a window of 1 the current step is not counted: it ends before step()
/// returns.
///
/// With a larger window a step returns before it is complete. These rules keep a program from
/// observing that. Each says what has to be complete first:
///
/// Return   The step itself, if its data may be gone once it has returned: if they lie on the
///          stack of the program, or on that of a part of together() (Op::is_transient()).
/// Memory   Before an op begins or memory is given back: each step that still receives into that
///          memory, or sends from it while the op receives.
/// Empty    Before a send begins: each step that waits for a message without data.
/// Order    Before a send begins: each step with an incomplete worm to the same node with the same
///          tag, unless that worm cannot be passed. It cannot if it has been launched and both take
///          the same path: they then queue for the same reservations, first come, first served. A
///          worm that follows another of its step may not have been launched yet, and a worm on
///          another path is in other queues; both can be passed.
///
/// Threads  the node's.
class StepWindow {
 public:
  /// Once, before anything else.
  void set_size(std::size_t size) { size_ = size; }
  std::size_t size() const { return size_; }

  /// Where the next step goes.
  StepMessages& next() {
    std::size_t i = oldest_ + open_;  // both at most size_
    while (i >= size_) i -= size_;
    return i < steps_.size() ? steps_[i] : steps_.another();
  }
  /// The step is under way.
  void begin_next() { ++open_; }
  std::size_t open() const { return open_; }
  bool is_full() const { return open_ == size_; }
  /// The oldest of those under way.
  StepMessages& oldest() { return steps_[oldest_]; }
  const StepMessages& oldest() const { return steps_[oldest_]; }
  /// The step is complete.
  void end_oldest() {
    oldest().forget();
    oldest_ = (oldest_ + 1) % size_;
    --open_;
  }
  /// No step is under way any more.
  void forget() noexcept {
    for (std::size_t i = 0; i < steps_.size(); ++i) steps_[i].forget();
    oldest_ = open_ = 0;
  }

  /// Calls f(worm) or f(receive) for each end of a message in the current step or one under way.
  /// Valid while the node waits.
  template <class F>
  void each(F&& f) const {
    if (size_ == 1) return steps_[0].each(f);
    for (std::size_t i = 0; i < open_; ++i) step(i).each(f);
  }

  /// Prefetches the receive that most steps have.
  void prefetch_receive() const {
    const auto* const first = reinterpret_cast<const std::byte*>(&steps_[0].receives[0]);
    for (int line = 0; line < 3; ++line) __builtin_prefetch(first + 64 * line, 1);
  }

  /// How many of the oldest must be complete before the op may begin: rules Memory and Empty.
  std::size_t in_the_way_of(const Op& op) const;
  /// The same by rule Order. \param to  where the send goes
  std::size_t that_could_be_passed(const Op& send, Rank to) const;
  /// The same before memory may be freed: rule Memory.
  std::size_t that_use(Span data) const;
  /// Whether the step with these ops must be complete when it returns: rule Return.
  /// \param stack  from where its program begins to where it is
  static bool returns_complete(std::span<const Op> ops, const Extent& stack);

 private:
  /// The i-th under way, the oldest first.
  const StepMessages& step(std::size_t i) const { return steps_[(oldest_ + i) % size_]; }

  FirstHere<StepMessages> steps_;
  std::size_t size_ = 1, oldest_ = 0, open_ = 0;
};

}  // namespace wormcube
