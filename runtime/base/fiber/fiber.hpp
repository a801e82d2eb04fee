// A fiber: a function on a stack of its own that can stop in the middle and continue later.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

namespace wormcube {

/// Memory for the stacks of a number of fibers: one map, whose pages the system provides on first
/// use.
///
/// Below each stack lies a guard that nothing may touch, so an overflow raises SIGSEGV. The
/// guard is up to most_guard_bytes wide, so that a large local array of code that was compiled
/// without -fstack-clash-protection does not reach beyond it; one page where the process has a
/// limit on its addresses. A stack and its guard are two maps of the process, of which Linux allows
/// 65530 (vm.max_map_count), so more stacks than a quarter of that have no guards. Their fibers
/// look at the low end of their stack whenever they stop, and an overflow ends the process then,
/// with a report (FaultReports).
class Stacks {
 public:
  /// \param stack_bytes  rounded up to whole pages
  /// \param may_guard    false: no guards, so that all are one map
  /// Throws NoRoom if the system has no memory or maps for them.
  Stacks(std::size_t count, std::size_t stack_bytes, bool may_guard = true);
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  static constexpr std::size_t most_guard_bytes = std::size_t{16} << 20;
  /// The width of each guard for `count` stacks: at most 64 GiB of addresses in all. One page if
  /// the process has a limit on its addresses (ulimit -v), or under a sanitizer.
  static std::size_t guard_for(std::size_t count);

  std::span<std::byte> operator[](std::size_t i) const {
    return {map_ + i * slot_bytes_ + slot_bytes_ - stack_bytes_, stack_bytes_};
  }
  /// The guard's width below each stack; 0: no guards.
  std::size_t guard_bytes() const { return guard_bytes_; }

 private:
  bool map(std::size_t count, std::size_t gap);

  std::byte* map_ = nullptr;
  std::size_t map_bytes_ = 0, slot_bytes_ = 0, stack_bytes_ = 0, guard_bytes_ = 0;
};

/// A stackful coroutine.
///
/// Threads     any thread may resume, one at a time; the callers order the calls. Code inside must
///             not keep the address of a thread_local across suspend() if the resuming thread
///             changes.
/// Exceptions  must not leave the entry (std::terminate); inside they work as everywhere, suspend()
///             within a handler included.
///
/// A fiber that is destroyed while it is suspended is dropped: nothing on its stack is destroyed.
/// Resume it to its end first, with an exception thrown where it waits.
class Fiber {
 public:
  /// On a stack of its own. Throws NoRoom if the system has no more stacks.
  Fiber(std::size_t stack_bytes, std::function<void()> entry);
  /// On stack number i of these, which must outlive the fiber.
  Fiber(const Stacks& stacks, std::size_t i, std::function<void()> entry);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs the entry, from its start or from where it suspended, until it
  /// suspends or ends. Not from inside, and not once it is done. Fibers nest:
  /// one may resume another.
  void resume();
  /// From inside: returns to the caller of resume(), and comes back with the next resume(). The
  /// fibers that this one has resumed count as inside, too: from one of them it suspends all down
  /// to this one.
  void suspend();
  /// Fetches what resume() will touch first, without waiting for it.
  void prefetch() const noexcept {
    const auto* const top = static_cast<const std::byte*>(inside_);
    for (int line = 0; line < 8; ++line) __builtin_prefetch(top + 64 * line);
    if (guard_bytes_ == 0) __builtin_prefetch(stack_.data());
  }
  std::span<const std::byte> stack() const noexcept { return stack_; }
  /// True when the entry has returned.
  bool done() const noexcept { return done_; }

  /// Whether an address lies where the current stack overflows to: the stack of the innermost fiber
  /// on the calling thread, or the thread's own (keep_signal_stack).
  static bool is_below_stack(const std::byte* address) noexcept;

 private:
  Fiber(std::unique_ptr<Stacks> stack, std::function<void()> entry);
  struct Switch;  // the boundary to Boost.Context and to the sanitizers:
                  // switch.hpp

  void require_stack() const;

  static inline constinit thread_local const Fiber* innermost_ =
      nullptr;  // that runs on this thread

  std::function<void()> entry_;

  std::unique_ptr<Stacks> own_stack_;
  std::span<std::byte> stack_;
  std::size_t guard_bytes_;
  void* inside_ = nullptr;    // where the fiber continues
  void* outside_ = nullptr;   // where its resumer continues
  const Fiber* last_ = this;  // the stack that inside_ lies on: this fiber's or
                              // a nested one's
  bool done_ = false;

  // The C++ runtime keeps the exceptions being handled per thread; these are
  // the fiber's own.
  struct {
    void* caught = nullptr;
    unsigned uncaught = 0;
  } exceptions_;

  // For the sanitizers only; always present, so that the layout does not depend
  // on them.
  [[maybe_unused]] const void* outside_stack_ = nullptr;
  [[maybe_unused]] std::size_t outside_stack_bytes_ = 0;
  [[maybe_unused]] void* tsan_inside_ = nullptr;
  [[maybe_unused]] void* tsan_outside_ = nullptr;
};

}  // namespace wormcube

#include "wormcube/runtime/base/fiber/switch.hpp"
