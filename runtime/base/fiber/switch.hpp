// How a thread switches stacks: Boost.Context's bare jump, announced to the sanitizers. Debian's
// Boost is built without them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/fiber/fiber.hpp"
#include "wormcube/runtime/base/fiber/sanitizers.hpp"

#include <cstring>
#include <utility>

#include <boost/context/detail/fcontext.hpp>
#include <cxxabi.h>

#ifdef WORMCUBE_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef WORMCUBE_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace wormcube {

struct Fiber::Switch {
  using Transfer = boost::context::detail::transfer_t;

  /// The calling thread's exceptions in flight: a pointer and a count, as the Itanium C++ ABI
  /// defines them.
  static void* thread_exceptions() {
    static thread_local void* const globals = abi::__cxa_get_globals();
    return globals;
  }

  /// jump_fcontext(to, data). It leaves by a jump, not by a return. After an ordinary call of it
  /// the processor would mispredict each return up the stack, so it is entered by a jump, too. With
  /// that, and with resume() and suspend() inlined in their callers, a round trip
  /// takes 13 ns instead of 26 (AMD EPYC, Zen 5). Always inline: where ThreadSanitizer sees a call
  /// begin on one stack and end on another, its own stacks of calls grow with each switch.
  [[gnu::always_inline]] static Transfer jump(void* to, void* data) {
#if defined(__x86_64__) && !defined(WORMCUBE_ASAN) && !defined(WORMCUBE_TSAN)
    void* from;
    void* answer;
    asm volatile(
        "lea -128(%%rsp), %%rsp\n\t"  // what a leaf function keeps below its
                                      // stack pointer
        "lea 1f(%%rip), %%rax\n\t"
        "push %%rax\n\t"
        "jmp jump_fcontext@PLT\n"
        "1:\n\t"
        "lea 128(%%rsp), %%rsp"
        : "=a"(from), "=d"(answer), "+D"(to), "+S"(data)
        :
        : "rcx", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
          "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "st",
          "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)",
#ifdef __AVX512F__
          "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",
          "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6",
          "k7",
#endif
          "memory", "cc");
    return {from, answer};
#else
    return boost::context::detail::jump_fcontext(to, data);
#endif
  }

  static void start(Transfer from) noexcept;
};

inline void Fiber::resume() {
  WORMCUBE_ASSERT(!done_);
  const Fiber* const outer = std::exchange(innermost_, last_);
  void* const thread_exceptions = Switch::thread_exceptions();
  decltype(exceptions_) outside;
  std::memcpy(&outside, thread_exceptions, sizeof outside);
  std::memcpy(thread_exceptions, &exceptions_, sizeof outside);
#ifdef WORMCUBE_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, last_->stack_.data(), last_->stack_.size());
#endif
#ifdef WORMCUBE_TSAN
  tsan_outside_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(last_->tsan_inside_, 0);
#endif
  inside_ = Switch::jump(inside_, this).fctx;
#ifdef WORMCUBE_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  std::memcpy(&exceptions_, thread_exceptions, sizeof outside);
  std::memcpy(thread_exceptions, &outside, sizeof outside);
  if (last_->guard_bytes_ == 0) last_->require_stack();
  if (last_ != this && guard_bytes_ == 0) require_stack();
  innermost_ = outer;
}

inline void Fiber::suspend() {
  last_ = innermost_;
#ifdef WORMCUBE_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, outside_stack_, outside_stack_bytes_);
#endif
#ifdef WORMCUBE_TSAN
  __tsan_switch_to_fiber(tsan_outside_, 0);
#endif
  outside_ = Switch::jump(outside_, nullptr).fctx;
#ifdef WORMCUBE_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, &outside_stack_, &outside_stack_bytes_);
#endif
}

}  // namespace wormcube
