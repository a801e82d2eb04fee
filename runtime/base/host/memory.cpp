// Limits of memory: the computer's, the process's, its cgroups'.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/host/memory.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/host/cgroups.hpp"
#include "wormcube/runtime/base/host/cores.hpp"
#include "wormcube/runtime/base/numbers.hpp"
#include "wormcube/runtime/base/units.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <fmt/core.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

namespace wormcube {

namespace {

namespace fs = std::filesystem;
using Figure = std::optional<std::uint64_t>;

/// The only word of a file that holds one number.
Figure figure_of(const fs::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return number_of<std::uint64_t>(word);
}

/// The number behind a key, in a file of lines "key number ..".
Figure figure_of(const fs::path& file, std::string_view wanted) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(wanted)) continue;
    std::istringstream words(line);
    std::string key, number;
    if (words >> key >> number && key == wanted) return number_of<std::uint64_t>(number);
  }
  return {};
}

double left(std::uint64_t limit, std::uint64_t used) {
  return limit > used ? static_cast<double>(limit - used) : 0.0;
}

/// One version's names.
struct CgroupFiles {
  const char* limit;
  const char* usage;
  const char* reclaimable;  // a key of memory.stat
};
constexpr CgroupFiles version_1{"memory.limit_in_bytes", "memory.usage_in_bytes",
                                "total_inactive_file"};
constexpr CgroupFiles version_2{"memory.max", "memory.current", "inactive_file"};

class Least {
 public:
  void offer(double bytes, std::string_view limit) {
    if (bytes < least_.bytes) least_ = {bytes, std::string(limit)};
  }
  AvailableMemory take() { return std::move(least_); }

 private:
  AvailableMemory least_{std::numeric_limits<double>::infinity(), "no limit known"};
};

void offer_cgroup(const fs::path& folder, const CgroupFiles& files, Least& least) {
  const Figure limit = figure_of(folder / files.limit);
  // Version 1 says "no limit" by a number near 2^63.
  if (!limit || *limit >= std::uint64_t{1} << 62) return;
  const std::uint64_t usage = figure_of(folder / files.usage).value_or(0);
  const std::uint64_t cached =
      std::min(usage, figure_of(folder / "memory.stat", files.reclaimable).value_or(0));
  least.offer(left(*limit, usage - cached), fmt::format("cgroup {}", files.limit));
}

Figure limit_of(int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY) {
    return {};
  }
  return limit.rlim_cur;
}

}  // namespace

MemorySources MemorySources::of_this_process() {
  MemorySources sources;
  sources.address_space = limit_of(RLIMIT_AS);
  sources.data = limit_of(RLIMIT_DATA);
  return sources;
}

AvailableMemory available_memory(const MemorySources& sources) {
  constexpr std::uint64_t kibibyte = 1024;
  Least least;
  if (const Figure free = figure_of(sources.meminfo, "MemAvailable:")) {
    least.offer(static_cast<double>(*free * kibibyte), "MemAvailable");
  }
  const auto used = [&](std::string_view key) {
    return figure_of(sources.status, key).value_or(0) * kibibyte;
  };
  if (sources.address_space) {
    least.offer(left(*sources.address_space, used("VmSize:")), "RLIMIT_AS, ulimit -v");
  }
  if (sources.data) least.offer(left(*sources.data, used("VmData:")), "RLIMIT_DATA, ulimit -d");
  each_cgroup(sources.cgroup, sources.cgroup_root, "memory",
              [&](const fs::path& folder, int version) {
                offer_cgroup(folder, version == 1 ? version_1 : version_2, least);
              });
  return least.take();
}

int loop_threads(const MemorySources& sources) {
  double others = usable_cores() - 1.0;
  const auto fit = [&](Figure limit, std::string_view key, double of_thread) {
    if (!limit) return;
    const auto used = figure_of(sources.status, key).value_or(0) * std::uint64_t{1024};
    others = std::min(others, left(*limit, used) / 2 / of_thread);
  };
  constexpr double mebibyte = 1 << 20;
  fit(sources.address_space, "VmSize:", 160 * mebibyte);  // glibc cuts an aligned heap out of 128
  fit(sources.data, "VmData:", 16 * mebibyte);
  return 1 + static_cast<int>(others);
}

namespace {

std::atomic<double> expected_peak{0};

double resident_memory() {
  std::ifstream stream("/proc/self/statm");
  double all = 0, resident = 0;
  stream >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void expect(double bytes) {
  const double peak = resident_memory() + bytes;
  for (double before = expected_peak; before < peak;) {
    if (expected_peak.compare_exchange_weak(before, peak)) return;
  }
}

}  // namespace

double expected_peak_memory() { return expected_peak; }

double peak_memory() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  constexpr double kibibyte = 1024;
  return static_cast<double>(used.ru_maxrss) * kibibyte;
}

std::size_t most_memory_maps() {
  constexpr std::size_t linux_default = 65530;
  return figure_of("/proc/sys/vm/max_map_count").value_or(linux_default);
}

std::string out_of_memory_text(std::string_view what, std::string_view way_out) {
  const AvailableMemory available = available_memory();
  return fmt::format("{}: out of memory; {} is available now ({}); {}", what,
                     memory_text(available.bytes), available.limit, way_out);
}

void require_memory(std::string_view what, double bytes, std::string_view way_out) {
  require_memory(what, bytes, way_out, available_memory());
}

namespace {

void refuse_more(std::string_view what, double bytes, std::string_view way_out,
                 const AvailableMemory& available) {
  if (bytes <= available.bytes) return;  // an estimate of NaN is refused as well
  throw UsageError(fmt::format("{} needs {} of memory, {} is available ({}); {}", what,
                               memory_text(bytes), memory_text(available.bytes), available.limit,
                               way_out));
}

}  // namespace

void require_memory(std::string_view what, double bytes, std::string_view way_out,
                    const AvailableMemory& available) {
  refuse_more(what, bytes, way_out, available);
  expect(bytes);
}

void require_available(std::string_view what, double bytes, std::string_view way_out) {
  refuse_more(what, bytes, way_out, available_memory());
}

void give_back_memory() { malloc_trim(0); }

}  // namespace wormcube
