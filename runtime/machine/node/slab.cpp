// The slab in use: pieces are cut off its front.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/machine/node/slab.hpp"

#include "wormcube/runtime/base/fiber/sanitizers.hpp"
#include "wormcube/runtime/base/host/huge_pages.hpp"
#include "wormcube/runtime/base/host/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <new>

namespace wormcube {
namespace {

constexpr Bytes least_slab = Bytes{64} << 20;  // of address space: untouched pages take no memory
constexpr Bytes huge_page = Bytes{2} << 20;
constexpr Bytes page = 4096;  // a piece has whole pages, so that all of it can be given back

Bytes round_up(Bytes bytes, Bytes unit) { return (bytes + unit - 1) / unit * unit; }

struct Slab {
  explicit Slab(Bytes bytes)
      : mapped(round_up(bytes, huge_page) + huge_page),  // whole huge pages, wherever it begins
        pages(take_pages(mapped)),
        used(round_up(reinterpret_cast<std::uintptr_t>(pages), huge_page) -
             reinterpret_cast<std::uintptr_t>(pages)) {}
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;
  ~Slab() { give_pages_back(pages, mapped); }

  Bytes mapped;
  void* pages;
  Bytes used;  // guarded by the mutex of take_from_slab
};

}  // namespace

SlabPiece take_from_slab(Bytes bytes) {
#if defined(WORMCUBE_ASAN) || defined(WORMCUBE_TSAN)
  constexpr bool is_sanitized = true;
#else
  constexpr bool is_sanitized = false;
#endif
  if (is_sanitized || bytes < least_slab_piece) return {};
  if (MemorySources::of_this_process().address_space) return {};
  static std::mutex mutex;
  static std::weak_ptr<Slab> last;  // its pieces own it
  const std::lock_guard lock(mutex);
  const Bytes room = round_up(bytes, page);
  std::shared_ptr<Slab> slab = last.lock();
  if (slab == nullptr || slab->mapped - slab->used < room) {
    try {
      slab = std::make_shared<Slab>(std::max(least_slab, room));
    } catch (const std::bad_alloc&) {
      return {};  // the heap asks for less
    }
    last = slab;
  }
  std::byte* const memory = static_cast<std::byte*>(slab->pages) + slab->used;
  slab->used += room;
  return {memory, std::move(slab)};
}

void empty_slab_piece(std::byte* memory, Bytes bytes) noexcept {
  empty_pages(memory, round_up(bytes, page));
}

}  // namespace wormcube
