// A node's private memory: a stack of chunks, kept between runs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/node.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace wormcube {

/// Allocates memory, mostly last in, first out; counts the peak in use.
///
/// Threads  the node's own program only.
class Arena {
 public:
  /// 64-byte aligned, not cleared. If each call asks for the same pieces, no call after the second
  /// needs new memory. Throws OutOfMemory.
  Span acquire(Bytes bytes, Purpose purpose);
  void release(Span data, Purpose purpose) noexcept;

  Bytes peak_bytes() const { return peak_bytes_; }
  Bytes peak_block_bytes() const { return peak_block_bytes_; }
  /// Forgets the peaks. Nothing may be out.
  void restart();

 private:
  static constexpr Bytes alignment = 64;
  static constexpr Bytes least_chunk = 512;  // a million nodes may have one each
  class Free {
   public:
    Free() noexcept : bytes_(0) {}  // the heap's
    Free(std::shared_ptr<void> slab, Bytes bytes) noexcept
        : slab_(std::move(slab)), bytes_(bytes) {}
    void operator()(std::byte* memory) const noexcept;

   private:
    std::shared_ptr<void> slab_;  // the chunk is a piece of it
    Bytes bytes_;
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
