// Maps that ask for huge pages.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/host/huge_pages.hpp"

#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

namespace wormcube {

// Without NORESERVE: if the system refuses memory in advance, it refuses here and not at a touch.
void* take_pages(std::size_t bytes) {
  void* const pages =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  static_cast<void>(madvise(pages, bytes, MADV_HUGEPAGE));  // fails where the kernel has none
  return pages;
}

void give_pages_back(void* pages, std::size_t bytes) noexcept { munmap(pages, bytes); }

void empty_pages(void* begin, std::size_t bytes) noexcept {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (at + page - 1) / page * page, last = (at + bytes) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace wormcube
