// The stores, and the measurement that says when they pay.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/network/unread.hpp"

#include "wormcube/runtime/base/fiber/sanitizers.hpp"
#include "wormcube/runtime/base/host/clocks.hpp"
#include "wormcube/runtime/base/host/huge_pages.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace wormcube {

// A sanitizer does not see these stores, so under one all are plain.
#if defined(__SSE2__) && !defined(WORMCUBE_ASAN) && !defined(WORMCUBE_TSAN)

void copy_unread(std::span<std::byte> to, std::span<const std::byte> from) noexcept {
  constexpr std::size_t line = 64, least = 2048;
  if (to.size() < least) {
    std::memcpy(to.data(), from.data(), to.size());
    return;
  }
  const std::size_t head = (line - reinterpret_cast<std::uintptr_t>(to.data()) % line) % line;
  std::memcpy(to.data(), from.data(), head);
  std::size_t at = head;
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

void copy_unread(std::span<std::byte> to, std::span<const std::byte> from) noexcept {
  std::memcpy(to.data(), from.data(), to.size());
}

void settle_unread() noexcept {}

#endif

namespace {

constexpr std::size_t few = least_exceeding, many = std::size_t{64} << 20;

void copy_cached(std::span<std::byte> to, std::span<const std::byte> from) noexcept {
  std::memcpy(to.data(), from.data(), to.size());
}

// Whether stores past the caches copy `few` bytes faster, in the order of an exchange: block by
// block, each far from the one before. The least of several rounds, by turns.
bool few_pay() {
  constexpr std::size_t block = 4096, blocks = few / block,
                        stride = 129;  // coprime: meets each block
  using Memory = std::vector<std::byte, HugePages<std::byte>>;
  const Memory from(few, std::byte{1});
  Memory to(few);
  const auto time = [&](auto copy) {
    const auto begin = processor_time();
    for (std::size_t i = 0; i < blocks; ++i) {
      const std::size_t at = i * stride % blocks * block;
      copy(std::span(to).subspan(at, block),
           std::span<const std::byte>(from).subspan(i * block, block));
    }
    settle_unread();
    return processor_time() - begin;
  };
  auto cached = std::chrono::nanoseconds::max(), past = cached;
  constexpr int rounds = 4;
  for (int i = 0; i < rounds; ++i) {
    cached = std::min(cached, time(copy_cached));
    past = std::min(past, time(copy_unread));
  }
  return past < cached;
}

}  // namespace

bool found_to_exceed_caches(std::size_t bytes) {
  if (bytes >= many) return true;
  static const bool pays = few_pay();
  return pays;
}

}  // namespace wormcube
