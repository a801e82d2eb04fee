// The loop whose progress is shown: three numbers that any thread may read.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/schedule/long_loop.hpp"

#include <atomic>

namespace wormcube {

namespace {

// Relaxed: they are only displayed.
std::atomic<const char*> shown_loop{nullptr};
std::atomic<std::size_t> turns_done{0}, turns_in_all{0};

}  // namespace

LongLoop::LongLoop(const char* what, std::size_t total) noexcept {
  const char* none = nullptr;
  shown_ = shown_loop.compare_exchange_strong(none, what, std::memory_order_relaxed);
  if (!shown_) return;
  turns_done.store(0, std::memory_order_relaxed);
  turns_in_all.store(total, std::memory_order_relaxed);
}

LongLoop::~LongLoop() {
  if (shown_) shown_loop.store(nullptr, std::memory_order_relaxed);
}

void LongLoop::step() noexcept {
  if (shown_) turns_done.fetch_add(1, std::memory_order_relaxed);
}

std::optional<LongLoop::State> LongLoop::now() noexcept {
  const char* const what = shown_loop.load(std::memory_order_relaxed);
  if (what == nullptr) return std::nullopt;
  return State{what, turns_done.load(std::memory_order_relaxed),
               turns_in_all.load(std::memory_order_relaxed)};
}

}  // namespace wormcube
