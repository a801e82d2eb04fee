// Affinity and quotas.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/host/cores.hpp"

#include "wormcube/runtime/base/host/cgroups.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <new>
#include <thread>

#include <sched.h>

namespace wormcube {
namespace {

/// Quota and period in microseconds, in one file (version 2) or in two. A quota of "max" or -1
/// means no limit.
int cores_of_quota(const std::filesystem::path& folder, int version) {
  double quota = 0, period = 0;
  if (version == 2) {
    std::ifstream(folder / "cpu.max") >> quota >> period;
  } else {
    std::ifstream(folder / "cpu.cfs_quota_us") >> quota;
    std::ifstream(folder / "cpu.cfs_period_us") >> period;
  }
  if (!(quota > 0) || !(period > 0) || quota / period > 1e6) return 0;
  return std::max(1, static_cast<int>(quota / period) +
                         (quota > period * static_cast<int>(quota / period) ? 1 : 0));
}

/// One core, in the form that the kernel expects.
class CoreSet {
 public:
  explicit CoreSet(int core) : words_(static_cast<std::size_t>(core) / 64 + 1) {
    words_.back() = std::uint64_t{1} << (core % 64);
  }
  std::size_t bytes() const { return words_.size() * sizeof(std::uint64_t); }
  const cpu_set_t* get() const { return reinterpret_cast<const cpu_set_t*>(words_.data()); }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace

// The kernel refuses a set that is smaller than its own.
std::vector<std::uint64_t> bound_cores() {
  constexpr std::size_t most = std::size_t{1} << 20;
  static_assert(sizeof(std::uint64_t) % sizeof(__cpu_mask) == 0);
  for (std::size_t cores = 1024; cores <= most; cores *= 2) {
    std::vector<std::uint64_t> set(cores / 64);
    if (sched_getaffinity(0, cores / 8, reinterpret_cast<cpu_set_t*>(set.data())) == 0) return set;
    if (errno != EINVAL) break;
  }
  return {};
}

std::vector<int> bound_core_numbers() {
  std::vector<int> numbers;
  int first = 0;
  for (std::uint64_t word : bound_cores()) {
    for (; word != 0; word &= word - 1) numbers.push_back(first + std::countr_zero(word));
    first += 64;
  }
  return numbers;
}

int bind_to_core(pthread_attr_t& attributes, int core) noexcept try {
  const CoreSet set(core);
  return pthread_attr_setaffinity_np(&attributes, set.bytes(), set.get());
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

int bind_to_core(pthread_t thread, int core) noexcept try {
  const CoreSet set(core);
  return pthread_setaffinity_np(thread, set.bytes(), set.get());
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

CoreSources CoreSources::of_this_process() {
  CoreSources sources;
  for (const std::uint64_t word : bound_cores()) sources.affinity += std::popcount(word);
  sources.online = static_cast<int>(std::thread::hardware_concurrency());
  return sources;
}

int usable_cores(const CoreSources& sources) {
  int cores = std::max(1, sources.affinity > 0 ? sources.affinity : sources.online);
  each_cgroup(sources.cgroup, sources.cgroup_root, "cpu",
              [&](const std::filesystem::path& folder, int version) {
                if (const int quota = cores_of_quota(folder, version); quota > 0)
                  cores = std::min(cores, quota);
              });
  return cores;
}

}  // namespace wormcube
