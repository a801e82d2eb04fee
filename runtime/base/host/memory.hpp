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
/// Limits that cannot be read are ignored. Infinite if none can be read.
AvailableMemory available_memory(const MemorySources& sources = MemorySources::of_this_process());

/// Throws UsageError if `bytes`, added to what the process has now, exceed what is available: "WHAT
/// needs 12.3 GiB of memory, 4.10 GiB is available (cgroup memory.max); ADVICE".
/// \param way_out  what the user can do: "use smaller blocks (--bytes)"
void require_memory(std::string_view what, double bytes, std::string_view way_out);
void require_memory(std::string_view what, double bytes, std::string_view way_out,
                    const AvailableMemory& available);

/// The same for memory that is reserved and not all used: it does not count in
/// expected_peak_memory().
void require_available(std::string_view what, double bytes, std::string_view way_out);

/// How many threads a parallel loop may use: usable_cores(); if addresses (RLIMIT_AS) or data
/// (RLIMIT_DATA) are limited, no more than fit in half of what is left. A thread takes addresses
/// for its stack and for a heap of its own, far more than it uses; its stack counts as data.
int loop_threads(const MemorySources& sources = MemorySources::of_this_process());

/// Returns freed memory that the heap keeps to the system: then it is available, and does not count
/// as used by this process.
void give_back_memory();

/// For memory that was not there after all: "WHAT: out of memory; 4.10 GiB is available now (cgroup
/// memory.max); ADVICE".
std::string out_of_memory_text(std::string_view what, std::string_view way_out);

/// How many memory maps a process may have (vm.max_map_count).
std::size_t most_memory_maps();

/// The expected peak of this process's memory in bytes: the maximum, over all calls of
/// require_memory, of what it had then plus what was needed.
double expected_peak_memory();
/// The measured peak of its memory in bytes.
double peak_memory();

}  // namespace wormcube
