// Fibers on Boost.Context's bare contexts. Each switch is announced to the sanitizers here, because
// Debian's Boost is built without them.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/fiber/fiber.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/fiber/sanitizers.hpp"
#include "wormcube/runtime/base/host/faults.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/base/host/print_error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include <boost/context/detail/fcontext.hpp>
#include <cxxabi.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/resource.h>
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

using boost::context::detail::make_fcontext;

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

void Fiber::Switch::start(Transfer from) noexcept {
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
  jump(fiber.outside_, nullptr);
}

std::size_t Stacks::guard_for(std::size_t count) {
#if defined(WORMCUBE_ASAN) || defined(WORMCUBE_TSAN)
  return static_cast<void>(count), page_bytes();
#else
  constexpr std::size_t all = std::size_t{64} << 30;
  rlimit addresses{};
  if (getrlimit(RLIMIT_AS, &addresses) != 0 || addresses.rlim_cur != RLIM_INFINITY) {
    return page_bytes();
  }
  const std::size_t each = std::min(most_guard_bytes, all / std::max<std::size_t>(count, 1));
  return std::max(each / page_bytes(), std::size_t{1}) * page_bytes();
#endif
}

Stacks::Stacks(std::size_t count, std::size_t stack_bytes, bool may_guard) {
  const std::size_t page = page_bytes();
  const auto no_room = [&](int error) {
    return NoRoom(
        fmt::format("fibers: no room for {} stacks of {} bytes ({}); use fewer nodes or smaller "
                    "stacks, or raise the limit (ulimit -v)",
                    count, stack_bytes, std::strerror(error)));
  };
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  if (stack_bytes > all - 2 * page || count > all / (stack_bytes + 2 * page)) throw no_room(ENOMEM);
  stack_bytes_ = (stack_bytes + page - 1) / page * page;
  const std::size_t wide = guard_for(count);
  if (!map(count, wide) && (wide == page || !map(count, page))) throw no_room(errno);
  // Without guards in between, a huge page would make the first touch of a stack cost 2 MiB. Fails
  // where the kernel has no huge pages.
  static_cast<void>(madvise(map_, map_bytes_, MADV_NOHUGEPAGE));
  bool guarded = may_guard && count <= most_memory_maps() / 4;
  const std::size_t gap = slot_bytes_ - stack_bytes_;
  for (std::size_t i = 0; guarded && i < count; ++i) {
    guarded = mprotect(map_ + i * slot_bytes_, gap, PROT_NONE) == 0;  // fails: too many maps
  }
  if (guarded) guard_bytes_ = gap;
}

bool Stacks::map(std::size_t count, std::size_t gap) {
  slot_bytes_ = stack_bytes_ + gap;
  if (count > std::numeric_limits<std::size_t>::max() / slot_bytes_) return false;
  map_bytes_ = count * slot_bytes_;
  void* const map = mmap(nullptr, map_bytes_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (map == MAP_FAILED) return false;
  map_ = static_cast<std::byte*>(map);
  return true;
}

Stacks::~Stacks() {
#ifdef WORMCUBE_ASAN
  __asan_unpoison_memory_region(map_, map_bytes_);  // the next map here must not inherit frames
#endif
  munmap(map_, map_bytes_);
}

Fiber::Fiber(std::size_t stack_bytes, std::function<void()> entry)
    : Fiber(std::make_unique<Stacks>(1, stack_bytes), std::move(entry)) {}

Fiber::Fiber(std::unique_ptr<Stacks> stack, std::function<void()> entry)
    : Fiber(*stack, 0, std::move(entry)) {
  own_stack_ = std::move(stack);
}

Fiber::Fiber(const Stacks& stacks, std::size_t i, std::function<void()> entry)
    : entry_(std::move(entry)), stack_(stacks[i]), guard_bytes_(stacks.guard_bytes()) {
  // All stacks begin at a page's end; without this shift their hot ends would
  // share a few sets of the caches.
  const auto begin = reinterpret_cast<std::uintptr_t>(stack_.data());
  const std::size_t shift = begin / page_bytes() % 31 * 64;
  inside_ =
      make_fcontext(stack_.data() + stack_.size() - shift, stack_.size() - shift, &Switch::start);
#ifdef WORMCUBE_TSAN
  tsan_inside_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {  // NOLINT(modernize-use-equals-default): with ThreadSanitizer it is not
#ifdef WORMCUBE_TSAN
  __tsan_destroy_fiber(tsan_inside_);
#endif
}

// Reading a page that was never written takes no memory. A frame may leave gaps, so the words
// looked at reach over the frames of several small functions.
void Fiber::require_stack() const {
  std::uint64_t low[32];
  std::memcpy(low, stack_.data(), sizeof low);
  std::uint64_t written = 0;
  for (const std::uint64_t word : low) written |= word;
  if (written == 0) return;
  report_fault(stack_.data() - 1);
  print_error(fmt::format("fiber: its stack of {} bytes has overflowed; use larger stacks\n",
                          stack_.size()));
  std::abort();
}

bool Fiber::is_below_stack(const std::byte* address) noexcept {
  if (innermost_ == nullptr) return is_below_thread_stack(address);
  const std::less<const std::byte*> before;
  const std::byte* const low = innermost_->stack_.data();
  return before(address, low) &&
         !before(address, low - std::max(innermost_->guard_bytes_, page_bytes()));
}

}  // namespace wormcube
