// Memory for arrays that are accessed at random: in huge pages, where the system has some.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <new>

namespace wormcube {

/// Smaller arrays come from the heap.
inline constexpr std::size_t least_huge_bytes = std::size_t{4} << 20;

/// Zeroed pages, huge ones if the system grants them on request (transparent_hugepage: madvise or
/// always). Throws std::bad_alloc.
void* take_pages(std::size_t bytes);
void give_pages_back(void* pages, std::size_t bytes) noexcept;
/// Part of them is not used any more: what lies in it is lost, and its whole pages take no memory.
void empty_pages(void* begin, std::size_t bytes) noexcept;

/// A standard allocator: an array of at least least_huge_bytes lies in pages of its own. All of it
/// will be used, so a huge page takes no more memory than the small ones do, and one entry in the
/// processor's page table instead of 512.
template <class T>
struct HugePages {
  using value_type = T;

  HugePages() = default;
  template <class Other>
  HugePages(const HugePages<Other>&) {}  // NOLINT(google-explicit-constructor): as allocators do

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_alloc();
    const std::size_t bytes = count * sizeof(T);
    return static_cast<T*>(bytes < least_huge_bytes
                               ? ::operator new (bytes, std::align_val_t{alignof(T)})
                               : take_pages(bytes));
  }
  void deallocate(T* array, std::size_t count) noexcept {
    const std::size_t bytes = count * sizeof(T);
    bytes < least_huge_bytes ? ::operator delete (array, std::align_val_t{alignof(T)})
                             : give_pages_back(array, bytes);
  }

  friend bool operator==(const HugePages&, const HugePages&) { return true; }
};

}  // namespace wormcube
