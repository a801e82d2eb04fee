// Fibers on Boost.Context's bare contexts, told to the sanitizers switch by switch: Debian's Boost
// is built without them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/fiber/fiber.hpp"

#include "wormcube/runtime/error.hpp"
#include "wormcube/runtime/fiber/sanitizers.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include <boost/context/detail/fcontext.hpp>
#include <cxxabi.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef WORMCUBE_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef WORMCUBE_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace wormcube {
namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

struct Fiber::Switch {
  /// The calling thread's exceptions in flight: a pointer and a count, by the Itanium C++ ABI.
  static void* thread_exceptions() { return abi::__cxa_get_globals(); }

  static void start(transfer_t from) noexcept {
    Fiber& fiber = *static_cast<Fiber*>(from.data);
    fiber.outside_ = from.fctx;
#ifdef WORMCUBE_ASAN
    __sanitizer_finish_switch_fiber(nullptr, &fiber.outside_stack_, &fiber.outside_stack_bytes_);
#endif
    fiber.entry_();
    fiber.done_ = true;
#ifdef WORMCUBE_ASAN
    __sanitizer_start_switch_fiber(nullptr, fiber.outside_stack_, fiber.outside_stack_bytes_);
#endif
#ifdef WORMCUBE_TSAN
    __tsan_switch_to_fiber(fiber.tsan_outside_, 0);
#endif
    jump_fcontext(fiber.outside_, nullptr);
  }
};

Fiber::Fiber(std::size_t stack_bytes, std::function<void()> entry) : entry_(std::move(entry)) {
  const std::size_t page = page_bytes();
  const std::size_t stack = (stack_bytes + page - 1) / page * page;
  map_bytes_ = stack + page;
  void* map = mmap(nullptr, map_bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (map == MAP_FAILED || mprotect(map, page, PROT_NONE) != 0) {
    const int reason = errno;
    if (map != MAP_FAILED) munmap(map, map_bytes_);
    throw UsageError(
        fmt::format("fibers: no room for another stack of {} bytes ({}); use fewer nodes, smaller "
                    "stacks, or raise "
                    "vm.max_map_count (two maps a fiber)",
                    stack_bytes, std::strerror(reason)));
  }
  map_ = static_cast<std::byte*>(map);
  // All stacks begin at a page's end; without this shift their hot ends would share a few sets of
  // the caches.
  const std::size_t shift = reinterpret_cast<std::uintptr_t>(map) / page % 31 * 64;
  inside_ = make_fcontext(map_ + map_bytes_ - shift, stack - shift, &Switch::start);
#ifdef WORMCUBE_TSAN
  tsan_inside_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#ifdef WORMCUBE_TSAN
  __tsan_destroy_fiber(tsan_inside_);
#endif
#ifdef WORMCUBE_ASAN
  __asan_unpoison_memory_region(map_, map_bytes_);  // the next map here must not inherit frames
#endif
  munmap(map_, map_bytes_);
}

void Fiber::resume() {
  WORMCUBE_ASSERT(!done_);
  void* const thread_exceptions = Switch::thread_exceptions();
  decltype(exceptions_) outside;
  std::memcpy(&outside, thread_exceptions, sizeof outside);
  std::memcpy(thread_exceptions, &exceptions_, sizeof outside);
#ifdef WORMCUBE_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, map_ + page_bytes(), map_bytes_ - page_bytes());
#endif
#ifdef WORMCUBE_TSAN
  tsan_outside_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(tsan_inside_, 0);
#endif
  inside_ = jump_fcontext(inside_, this).fctx;
#ifdef WORMCUBE_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  std::memcpy(&exceptions_, thread_exceptions, sizeof outside);
  std::memcpy(thread_exceptions, &outside, sizeof outside);
}

void Fiber::suspend() {
#ifdef WORMCUBE_ASAN
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, outside_stack_, outside_stack_bytes_);
#endif
#ifdef WORMCUBE_TSAN
  __tsan_switch_to_fiber(tsan_outside_, 0);
#endif
  outside_ = jump_fcontext(outside_, nullptr).fctx;
#ifdef WORMCUBE_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, &outside_stack_, &outside_stack_bytes_);
#endif
}

}  // namespace wormcube
