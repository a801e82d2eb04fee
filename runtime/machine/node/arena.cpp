// The chunks of an arena.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/node/arena.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/machine/node/slab.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace wormcube {

void Arena::Free::operator()(std::byte* memory) const noexcept {
  if (slab_ == nullptr) return ::operator delete[](memory, std::align_val_t{alignment});
  empty_slab_piece(memory, bytes_);
}

Arena::Chunk Arena::chunk(Bytes bytes) {
  Chunk made;
  made.bytes = bytes;
  if (SlabPiece piece = take_from_slab(bytes); piece.slab != nullptr) {
    made.memory = {piece.memory, Free(std::move(piece.slab), bytes)};
  } else {
    made.memory.reset(
        static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{alignment})));
  }
  return made;
}

Span Arena::acquire(Bytes bytes, Purpose purpose) {
  unite();
  // Never 0: no piece is null.
  const Bytes room = std::max((bytes + alignment - 1) / alignment * alignment, alignment);
  if (chunks_.empty() || chunks_.back().bytes - chunks_.back().used < room) {
    std::erase_if(chunks_, [](const Chunk& old) { return old.out == 0; });  // too small, and empty
    try {
      chunks_.push_back(chunk(std::max(room, least_chunk)));
    } catch (const std::bad_alloc&) {
      throw OutOfMemory(bytes);
    }
  }
  Chunk& last = chunks_.back();
  const Span data(last.memory.get() + last.used, bytes);
  last.used += room;
  ++last.out;
  out_bytes_ += bytes;  // not before there is memory: the allocation may throw
  peak_bytes_ = std::max(peak_bytes_, out_bytes_);
  if (purpose == Purpose::blocks) {
    out_block_bytes_ += bytes;
    peak_block_bytes_ = std::max(peak_block_bytes_, out_block_bytes_);
  }
  return data;
}

void Arena::release(Span data, Purpose purpose) noexcept {
  out_bytes_ -= data.size();
  if (purpose == Purpose::blocks) out_block_bytes_ -= data.size();
  const Bytes room = std::max((data.size() + alignment - 1) / alignment * alignment, alignment);
  for (Chunk& holder : chunks_) {
    const std::byte* const begin = holder.memory.get();
    if (data.data() < begin || data.data() >= begin + holder.bytes) continue;
    if (data.data() + room == begin + holder.used) holder.used -= room;
    if (--holder.out == 0) holder.used = 0;
    return;
  }
  WORMCUBE_ASSERT(!"released memory is the arena's");
}

// Replaces the empty chunks by one as large as all of them together. What was in use at once, as in
// one call, then fits into it the next time, with no allocation and no page fault. Memory in longer
// use, shared by all calls, stays where it is.
void Arena::unite() {
  const auto is_empty = [](const Chunk& part) { return part.out == 0; };
  if (std::ranges::count_if(chunks_, is_empty) < 2) return;
  Bytes total = 0;
  for (const Chunk& part : chunks_) total += is_empty(part) ? part.bytes : 0;
  std::erase_if(chunks_, is_empty);
  chunks_.push_back(chunk(total));
}

void Arena::restart() {
  WORMCUBE_ASSERT(out_bytes_ == 0);
  peak_bytes_ = peak_block_bytes_ = 0;
}

}  // namespace wormcube
