// Large chunks of all nodes side by side in huge pages.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/op.hpp"

#include <cstddef>
#include <memory>

namespace wormcube {

/// Smaller chunks come from the heap.
inline constexpr Bytes least_slab_piece = Bytes{16} << 10;

struct SlabPiece {
  std::byte* memory = nullptr;  ///< of the size asked for, aligned to pages, not cleared
  std::shared_ptr<void> slab;   ///< keeps the pages; null: no slab was used
};

/// Nodes exchange blocks in an order that is random to the processor. In pages of 4 KiB each block
/// would cost a walk through the page tables. A slab's addresses return to the system with its last
/// piece.
///
/// None is used under a sanitizer, so that it sees where each chunk ends, and in a process whose
/// addresses are limited (RLIMIT_AS): a slab takes more of them than it uses.
///
/// Threads  any.
SlabPiece take_from_slab(Bytes bytes);
/// A piece is not used any more, and neither is its memory.
void empty_slab_piece(std::byte* memory, Bytes bytes) noexcept;

}  // namespace wormcube
