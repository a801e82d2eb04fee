// A node's private memory: a stack of chunks, kept between runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/node.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace wormcube {

/// Hands out memory, most of it last out, first back; counts the most that was out at once.
///
/// Threads  the node's own program only.
class Arena {
 public:
  /// 64-byte aligned, not cleared. The same pieces again, call after call, need no new memory from
  /// the third call on.
  Span acquire(Bytes bytes, Purpose purpose);
  void release(Span data, Purpose purpose) noexcept;

  Bytes peak_bytes() const { return peak_bytes_; }
  Bytes peak_block_bytes() const { return peak_block_bytes_; }
  /// Forgets the peaks. Nothing may be out.
  void restart();

 private:
  static constexpr Bytes alignment = 64;
  static constexpr Bytes least_chunk = 512;  // a million nodes may have one each
  struct Free {
    void operator()(std::byte* memory) const noexcept {
      ::operator delete[](memory, std::align_val_t{alignment});
    }
  };
  struct Chunk {
    std::unique_ptr<std::byte[], Free> memory;
    Bytes bytes = 0;
    Bytes used = 0;
    std::size_t out = 0;  // pieces not yet released; at 0 the chunk is empty again
  };
  static Chunk chunk(Bytes bytes);
  void unite();

  std::vector<Chunk> chunks_;  // new pieces come from the last
  Bytes out_bytes_ = 0, out_block_bytes_ = 0;
  Bytes peak_bytes_ = 0, peak_block_bytes_ = 0;
};

}  // namespace wormcube
