// A fiber: a function on a stack of its own that can stop in the middle and go on later.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace wormcube {

/// A stackful coroutine. The stack is mapped on demand, with a guard page below it: an overflow is
/// a SIGSEGV, not silence. A stack and its guard are two memory maps of the process, of which Linux
/// allows 65530 (vm.max_map_count): about 32000 fibers.
///
/// Threads     any thread may resume, one at a time, each after the one before it (the callers see
///             to that). Code inside must not keep the address of a thread_local across suspend()
///             if the resuming thread changes.
/// Exceptions  must not leave the entry (std::terminate); inside they work as everywhere, suspend()
///             within a handler included.
///
/// A fiber that is destroyed while it is suspended is dropped: nothing on its stack is destroyed.
/// Resume it to its end first, with an exception thrown where it waits.
class Fiber {
 public:
  /// \param stack_bytes  rounded up to whole pages
  /// Throws UsageError if the system has no more stacks to give.
  Fiber(std::size_t stack_bytes, std::function<void()> entry);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs the entry, from its start or from where it suspended, until it suspends or ends. Not from
  /// inside, and not once it is done. Fibers nest: one may resume another.
  void resume();
  /// From inside: returns to who resumed; comes back with the next resume().
  void suspend();
  /// True when the entry has returned.
  bool done() const noexcept { return done_; }

 private:
  struct Switch;  // the boundary to Boost.Context and to the sanitizers

  std::function<void()> entry_;
  std::byte* map_ = nullptr;  // guard page, then the stack
  std::size_t map_bytes_ = 0;
  void* inside_ = nullptr;   // where the fiber goes on
  void* outside_ = nullptr;  // where its resumer goes on
  bool done_ = false;

  // The C++ runtime keeps the exceptions being handled per thread; these are the fiber's own.
  struct {
    void* caught = nullptr;
    unsigned uncaught = 0;
  } exceptions_;

  // For the sanitizers only; always present, so that the layout does not depend on them.
  const void* outside_stack_ = nullptr;
  std::size_t outside_stack_bytes_ = 0;
  void* tsan_inside_ = nullptr;
  void* tsan_outside_ = nullptr;
};

}  // namespace wormcube
