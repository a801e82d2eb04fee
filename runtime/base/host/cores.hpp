// How many cores this process may use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pthread.h>

namespace wormcube {

/// Where the limits are read; tests point them at files of their own.
struct CoreSources {
  std::string cgroup = "/proc/self/cgroup";
  std::string cgroup_root = "/sys/fs/cgroup";
  /// Cores that the calling thread may run on (taskset); 0: not known.
  int affinity = 0;
  /// Cores of the computer, where nothing else is known.
  int online = 0;

  /// This process, as the calling thread sees it: a node's or a worker's thread may be bound to
  /// fewer.
  static CoreSources of_this_process();
};

/// The cores that the calling thread is bound to, one bit each, from core 0 on; empty: not known.
std::vector<std::uint64_t> bound_cores();

/// The same, by their numbers.
std::vector<int> bound_core_numbers();

/// Pins a thread, running or about to start, to one core. Returns 0 or the system's error.
int bind_to_core(pthread_attr_t& attributes, int core) noexcept;
int bind_to_core(pthread_t thread, int core) noexcept;

/// The smallest of these: the cores that the process is bound to, and the processor-time quota of
/// each cgroup on its path (version 1 or 2), rounded up: `docker --cpus 1.5` gives 2. At least 1.
/// Limits that cannot be read are ignored.
int usable_cores(const CoreSources& sources = CoreSources::of_this_process());

}  // namespace wormcube
