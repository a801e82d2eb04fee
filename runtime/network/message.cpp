// Walking over the pieces of a message.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/message.hpp"

#include "wormcube/runtime/base/fiber/sanitizers.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace wormcube {

Bytes Cursor::read(Span to) {
  Bytes done = 0;
  while (done < to.size()) {
    const Span from = rest();
    if (from.empty()) break;
    const Bytes count = std::min(from.size(), to.size() - done);
    std::memcpy(to.data() + done, from.data(), count);
    advance(count);
    done += count;
  }
  return done;
}

// A sanitizer does not see these stores, so under one all are plain.
#if defined(__SSE2__) && !defined(WORMCUBE_ASAN) && !defined(WORMCUBE_TSAN)

void copy_unread(Span to, ConstSpan from) noexcept {
  constexpr Bytes line = 64, least = 2048;
  if (to.size() < least) {
    std::memcpy(to.data(), from.data(), to.size());
    return;
  }
  const Bytes head = (line - reinterpret_cast<std::uintptr_t>(to.data()) % line) % line;
  std::memcpy(to.data(), from.data(), head);
  Bytes at = head;
  for (; at + line <= to.size(); at += line) {
    const auto* const source = reinterpret_cast<const __m128i*>(from.data() + at);
    auto* const target = reinterpret_cast<__m128i*>(to.data() + at);
    const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1),
                  c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  std::memcpy(to.data() + at, from.data() + at, to.size() - at);
}

void settle_unread() noexcept { _mm_sfence(); }

#else

void copy_unread(Span to, ConstSpan from) noexcept {
  std::memcpy(to.data(), from.data(), to.size());
}

void settle_unread() noexcept {}

#endif

}  // namespace wormcube
