// Numbers in the order they come, a byte each if they are regular.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace wormcube {

/// Keeps how far each step between two numbers differs from the step before, in as many bytes as
/// that needs, seven bits each: runs like 5, 9, 13, .. take a byte a number.
class NumberStream {
 public:
  /// Returns how many chunks of memory that took.
  std::size_t append(std::span<const std::uint64_t> numbers) {
    const std::size_t before = chunks_.size();
    std::uint64_t last = last_, last_step = last_step_;
    for (auto next = numbers.begin(); next != numbers.end();) {
      if (chunks_.empty() || chunks_.back()->used + most_bytes > Chunk::bytes) {
        chunks_.push_back(std::make_unique_for_overwrite<Chunk>());
      }
      Chunk& chunk = *chunks_.back();
      std::uint8_t* out = chunk.data.data() + chunk.used;
      const std::uint8_t* const full = chunk.data.data() + Chunk::bytes - most_bytes;
      for (; next != numbers.end() && out <= full; ++next) {
        const std::uint64_t step = *next - last;
        std::uint64_t code = zigzag(step - last_step);
        last = *next, last_step = step;
        for (; code >= more; code >>= bits) *out++ = static_cast<std::uint8_t>(code | more);
        *out++ = static_cast<std::uint8_t>(code);
      }
      chunk.used = static_cast<std::size_t>(out - chunk.data.data());
    }
    last_ = last, last_step_ = last_step;
    return chunks_.size() - before;
  }

  template <class F>
  void each(F&& f) const {
    std::uint64_t number = 0, step = 0;
    for (const auto& chunk : chunks_) {
      for (std::size_t at = 0; at < chunk->used;) {
        std::uint64_t code = 0;
        for (unsigned shift = 0;; shift += bits) {
          const std::uint64_t byte = chunk->data[at++];
          code |= (byte & (more - 1)) << shift;
          if (byte < more) break;
        }
        step += unzigzag(code);
        number += step;
        f(number);
      }
    }
  }

  static constexpr std::size_t chunk_bytes = 1024;

 private:
  static constexpr unsigned bits = 7, word_bits = 64;
  static constexpr std::uint64_t more = std::uint64_t{1} << bits;
  static constexpr std::size_t most_bytes = (word_bits + bits - 1) / bits;  // of a number

  struct Chunk {
    static constexpr std::size_t bytes = chunk_bytes - sizeof(std::size_t);
    std::size_t used = 0;
    std::array<std::uint8_t, bytes> data;
  };

  /// Small differences of either sign as small numbers: 0, -1, 1, -2, .. as 0, 1, 2, 3, ..
  static std::uint64_t zigzag(std::uint64_t difference) {
    return (difference << 1) ^ (std::uint64_t{0} - (difference >> (word_bits - 1)));
  }
  static std::uint64_t unzigzag(std::uint64_t code) {
    return (code >> 1) ^ (std::uint64_t{0} - (code & 1));
  }

  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::uint64_t last_ = 0, last_step_ = 0;
};

}  // namespace wormcube
