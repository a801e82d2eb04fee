// How much memory this process can still get, and what sets the limit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wormcube {

/// Where the limits are read; tests point them at files of their own.
struct MemorySources {
  std::string meminfo = "/proc/meminfo";
  std::string status = "/proc/self/status";  // what the process uses already
  std::string cgroup = "/proc/self/cgroup";
  std::string cgroup_root = "/sys/fs/cgroup";
  /// Bytes; empty where there is no limit.
  std::optional<std::uint64_t> address_space, data;

  /// This process: the files above, RLIMIT_AS and RLIMIT_DATA.
  static MemorySources of_this_process();
};

struct AvailableMemory {
  double bytes = 0;
  std::string limit;  // what sets it, as a user knows it: "MemAvailable", "cgroup memory.max", ..
};

/// The least of
///  - MemAvailable of the computer (what programs can still get without swapping),
///  - RLIMIT_AS less the addresses in use, RLIMIT_DATA less the data in use (`ulimit -v`, `-d`),
///  - of each cgroup on the path of this process, version 1 or 2, its limit less its usage; cached
///    files that the kernel gives back under pressure (inactive_file) do not count as used.
/// What cannot be read sets no limit. Infinite where nothing can be read at all.
AvailableMemory available_memory(const MemorySources& sources = MemorySources::of_this_process());

/// Throws UsageError if `bytes`, besides what the process has now, are more than is available:
/// "WHAT needs 12.3 GiB of memory, 4.10 GiB is available (cgroup memory.max); WAY OUT".
/// \param way_out  what the user can do: "use smaller blocks (--bytes)"
void require_memory(std::string_view what, double bytes, std::string_view way_out);
void require_memory(std::string_view what, double bytes, std::string_view way_out,
                    const AvailableMemory& available);

/// The same for memory that is asked for and not all used: no part of expected_peak_memory().
void require_available(std::string_view what, double bytes, std::string_view way_out);

/// How many threads a parallel loop may take: usable_cores(); where addresses are limited
/// (RLIMIT_AS), no more than half of those that are left have room for. A thread takes addresses
/// for its stack and for a heap of its own, far more than it uses.
int loop_threads(const MemorySources& sources = MemorySources::of_this_process());

/// Gives freed memory that the heap keeps back to the system: then it is available, and no part of
/// what this process has.
void give_back_memory();

/// For memory that was not there after all: "WHAT: out of memory; 4.10 GiB is available now (cgroup
/// memory.max); WAY OUT".
std::string out_of_memory_text(std::string_view what, std::string_view way_out);

/// How many memory maps a process may have (vm.max_map_count).
std::size_t most_memory_maps();

/// Bytes of memory that this process was expected to have at most so far: over all calls of
/// require_memory what it had then, and what was needed besides.
double expected_peak_memory();
/// Bytes of memory that it has had at most.
double peak_memory();

}  // namespace wormcube
