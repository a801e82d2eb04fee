// Maps that ask for huge pages.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/host/huge_pages.hpp"

#include <sys/mman.h>

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

}  // namespace wormcube
