// The floating-point environment of a thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cfenv>

#ifdef __x86_64__
#include <cstdint>

#include <xmmintrin.h>
#endif

namespace wormcube {

/// How the calling thread rounds, which exceptions trap, and whether tiny numbers are flushed to
/// zero.
class FloatingPointState {
 public:
  FloatingPointState() noexcept { std::fegetenv(&environment_); }

  /// Makes it the calling thread's. Does nothing if only the record of past exceptions differs.
  void restore() const noexcept {
#ifdef __x86_64__
    constexpr unsigned past_exceptions = 0x3f;
    std::uint16_t control = 0;
    asm volatile("fnstcw %0" : "=m"(control));
    const unsigned differs = _mm_getcsr() ^ environment_.__mxcsr;
    if (control == environment_.__control_word && (differs & ~past_exceptions) == 0) return;
#endif
    std::fesetenv(&environment_);
  }

 private:
  std::fenv_t environment_;
};

}  // namespace wormcube
