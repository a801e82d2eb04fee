// SIGSEGV, reported in words.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/host/faults.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <utility>

#include <pthread.h>
#include <unistd.h>

namespace wormcube {

/// One in the list of all; the handler walks it while others may change it, since what it reports
/// ends the process.
struct FaultReports::Entry {
  explicit Entry(Explain function) : explain(std::move(function)) {}

  Explain explain;
  std::atomic<Entry*> next{nullptr};

  static inline std::mutex
      mutex;  // guards changes; the handler is ours only while there is an entry
  static inline std::atomic<Entry*> first{nullptr};
  static inline struct sigaction previous {};

  static void handle(int signal, siginfo_t* info, void* context) {
    if (info->si_code > 0) report_fault(static_cast<const std::byte*>(info->si_addr));
    if ((previous.sa_flags & SA_SIGINFO) != 0) {
      previous.sa_sigaction(signal, info, context);
    } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
      previous.sa_handler(signal);
    } else if (info->si_code > 0) {
      sigaction(SIGSEGV, &previous, nullptr);     // the same instruction faults again
    } else if (previous.sa_handler == SIG_DFL) {  // another process sent it, and it does not recur
      sigaction(SIGSEGV, &previous, nullptr);
      raise(signal);  // comes when this handler returns
    }
  }
};

FaultReports::FaultReports(Explain explain) : entry_(std::make_unique<Entry>(std::move(explain))) {
  const std::lock_guard lock(Entry::mutex);
  Entry* const others = Entry::first.load();
  entry_->next = others;
  Entry::first = entry_.get();
  if (others != nullptr) return;
  struct sigaction ours {};
  ours.sa_sigaction = &Entry::handle;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &ours, &Entry::previous);
}

FaultReports::~FaultReports() {
  const std::lock_guard lock(Entry::mutex);
  std::atomic<Entry*>* link = &Entry::first;
  while (link->load() != entry_.get()) link = &link->load()->next;
  link->store(entry_->next.load());
  if (Entry::first.load() == nullptr) sigaction(SIGSEGV, &Entry::previous, nullptr);
}

namespace {

std::atomic<void (*)(std::string_view)> end_by_fault{nullptr};

struct ThreadStack {
  std::uintptr_t low = 0;
  std::size_t guard = 0;
  ThreadStack() {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* begin = nullptr;
    std::size_t bytes = 0;
    if (pthread_attr_getstack(&attributes, &begin, &bytes) == 0)
      low = reinterpret_cast<std::uintptr_t>(begin);
    if (pthread_attr_getguardsize(&attributes, &guard) != 0) guard = 0;
    pthread_attr_destroy(&attributes);
  }
};
// Not made in a handler.
thread_local const ThreadStack* thread_stack = nullptr;

}  // namespace

void report_fault(const std::byte* address) {
  using Entry = FaultReports::Entry;
  for (Entry* entry = Entry::first; entry != nullptr; entry = entry->next) {
    std::array<char, 1000> text{};
    const std::size_t bytes = entry->explain(address, std::span(text).first(text.size() - 1));
    if (bytes == 0) continue;
    if (auto* const end = end_by_fault.load()) end({text.data(), bytes});
    text[bytes] = '\n';
    constexpr int usage_error = 2;
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), bytes + 1);
    _exit(usage_error);
  }
}

std::size_t where_now(std::span<char> text) {
  using Entry = FaultReports::Entry;
  for (Entry* entry = Entry::first; entry != nullptr; entry = entry->next) {
    if (const std::size_t bytes = entry->explain(std::nullopt, text)) return bytes;
  }
  return 0;
}

void end_by_fault_with(void (*end)(std::string_view text)) { end_by_fault = end; }

SignalStack::SignalStack(std::span<std::byte> memory) {
  stack_t before{};
  if (sigaltstack(nullptr, &before) != 0 || (before.ss_flags & SS_DISABLE) == 0) return;
  stack_t ours{};
  ours.ss_sp = memory.data();
  ours.ss_size = memory.size();
  installed_ = sigaltstack(&ours, nullptr) == 0;
}

SignalStack::~SignalStack() {
  if (!installed_) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

void know_thread_stack() {
  static thread_local const ThreadStack stack;
  thread_stack = &stack;
}

void keep_signal_stack() {
  struct Kept {
    std::unique_ptr<std::byte[]> memory{new std::byte[SignalStack::bytes]};
    SignalStack signals{{memory.get(), SignalStack::bytes}};
  };
  static thread_local const Kept kept;
  know_thread_stack();
}

bool is_below_thread_stack(const std::byte* address) noexcept {
  if (thread_stack == nullptr || thread_stack->low == 0) return false;
  // The guard lies below or above what the system calls the lowest address; the first thread's
  // stack ends where the next map is near.
  constexpr std::uintptr_t near = std::uintptr_t{1} << 20;
  const std::uintptr_t below = std::max<std::uintptr_t>(near, thread_stack->guard);
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return at + below >= thread_stack->low &&
         at < thread_stack->low + thread_stack->guard + near / 16;
}

namespace {

thread_local constinit const Activity* current_activity = nullptr;

}  // namespace

Activity::Activity(std::string_view what) : prefix_(std::string(what) + ": "), lent_(this) {
  constexpr std::size_t most = 300;
  if (prefix_.size() > most) prefix_.resize(most);
}
Activity::~Activity() = default;
const Activity* Activity::current() noexcept { return current_activity; }
std::string_view Activity::prefix(const Activity* activity) noexcept {
  return activity != nullptr ? std::string_view(activity->prefix_) : std::string_view();
}
Activity::Lent::Lent(const Activity* activity) noexcept
    : outer_(std::exchange(current_activity, activity)) {}
Activity::Lent::~Lent() { current_activity = outer_; }

}  // namespace wormcube
