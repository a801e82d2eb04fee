// A fiber that runs one body after another, and the pool of idle strands.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/fiber/fiber.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace wormcube {

class Strand {
 public:
  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;

  /// On stack number i of these, which it keeps.
  Strand(std::shared_ptr<const Stacks> stacks, std::size_t i)
      : stacks_(std::move(stacks)), fiber_(*stacks_, i, [this] { live(); }) {
    fiber_.resume();  // to its first suspend
  }
  /// Between two bodies only.
  ~Strand() {
    body_ = nullptr;
    fiber_.resume();  // to its end
  }
  Strand(const Strand&) = delete;
  Strand& operator=(const Strand&) = delete;

  /// Sets the body for the next resume(); the body must outlive its run and must not throw.
  void give(const std::function<void()>& body) { body_ = &body; }
  void resume() { fiber_.resume(); }
  /// Where the locals of the body lie.
  std::span<const std::byte> stack() const { return fiber_.stack(); }
  /// Called from inside the body.
  void suspend() { fiber_.suspend(); }

 private:
  void live() {
    for (;;) {
      fiber_.suspend();
      if (body_ == nullptr) return;
      (*body_)();
    }
  }

  const std::function<void()>* body_ = nullptr;
  std::shared_ptr<const Stacks> stacks_;
  Fiber fiber_;
};

/// The idle strands. A new one takes system calls, so they are kept. A node never changes its
/// thread, so a strand returns to the thread that it came from. Stacks are created several at once,
/// and without guards when their maps would use up the process's limit.
class IdleStrands {
 public:
  static std::unique_ptr<Strand> take() {
    IdleStrands& own = of_this_thread();
    if (own.idle_.empty()) return own.another();
    std::unique_ptr<Strand> strand = std::move(own.idle_.back());
    own.idle_.pop_back();
    return strand;
  }
  /// How many stacks there are in the process: of strands in use and idle, and others.
  static std::size_t stacks() { return count_.load(std::memory_order_relaxed); }
  static void give_back(std::unique_ptr<Strand> strand) {
    constexpr std::size_t most = 4096;  // each keeps some pages
    auto& idle = of_this_thread().idle_;
    if (idle.size() < most) idle.push_back(std::move(strand));
  }

 private:
  static constexpr std::size_t at_once = 16, most_guarded = 4096;  // of the process
  static inline std::atomic<std::size_t> count_{0};

  static IdleStrands& of_this_thread() {
    static thread_local IdleStrands own;
    return own;
  }
  std::unique_ptr<Strand> another() {
    if (used_ == at_once) {
      const std::size_t before = stacks();
      stacks_ = std::shared_ptr<const Stacks>(
          new Stacks(at_once, Strand::stack_bytes, before < most_guarded),
          [](const Stacks* stacks) {
            delete stacks;
            count_.fetch_sub(at_once, std::memory_order_relaxed);
          });
      count_.fetch_add(at_once, std::memory_order_relaxed);
      used_ = 0;
    }
    return std::make_unique<Strand>(stacks_, used_++);
  }

  std::vector<std::unique_ptr<Strand>> idle_;
  std::shared_ptr<const Stacks> stacks_;  // the first used_ of these were given
  std::size_t used_ = at_once;
};

}  // namespace wormcube
