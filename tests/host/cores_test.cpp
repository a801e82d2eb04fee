// Usable cores: the least of what the process is bound to and of its cgroups' quotas.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/host/cores.hpp"

#include "wormcube/runtime/base/host/memory.hpp"

#include <bit>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <catch2/catch.hpp>
#include <sched.h>
#include <unistd.h>

using namespace wormcube;

namespace {

/// Cgroup files as the kernel shows them; removed at the end.
class FakeGroups {
 public:
  explicit FakeGroups(const std::string& cgroup) {
    static int next = 0;
    root_ = std::filesystem::temp_directory_path() /
            ("wormcube-cores-" + std::to_string(getpid()) + "-" + std::to_string(next++));
    write("cgroup", cgroup);
  }
  ~FakeGroups() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  FakeGroups(const FakeGroups&) = delete;
  FakeGroups& operator=(const FakeGroups&) = delete;

  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  int cores(int affinity) const {
    CoreSources sources;
    sources.cgroup = root_ / "cgroup";
    sources.cgroup_root = root_ / "fs";
    sources.affinity = affinity;
    sources.online = 16;
    return usable_cores(sources);
  }

 private:
  std::filesystem::path root_;
};

}  // namespace

TEST_CASE("without a quota the cores are those that the process is bound to", "[host]") {
  const FakeGroups groups("");
  CHECK(groups.cores(3) == 3);
  CHECK(groups.cores(64) == 64);
  CHECK(groups.cores(0) == 16);  // not known: all
}

TEST_CASE("a quota of version 2 counts, rounded up, in each group up to the root", "[host]") {
  const FakeGroups groups("0::/outer/inner\n");
  groups.write("fs/outer/inner/cpu.max", "max 100000\n");
  CHECK(groups.cores(8) == 8);
  groups.write("fs/outer/cpu.max", "350000 100000\n");
  CHECK(groups.cores(8) == 4);
  CHECK(groups.cores(2) == 2);
  groups.write("fs/outer/inner/cpu.max", "20000 100000\n");
  CHECK(groups.cores(8) == 1);
  groups.write("fs/outer/inner/cpu.max", "200000 100000\n");
  CHECK(groups.cores(8) == 2);
  groups.write("fs/cpu.max", "100000 100000\n");
  CHECK(groups.cores(8) == 1);
}

TEST_CASE("a quota of version 1 counts, -1 is none", "[host]") {
  const FakeGroups groups("5:cpu,cpuacct:/box\n4:memory:/other\n");
  groups.write("fs/cpu/box/cpu.cfs_quota_us", "150000\n");
  groups.write("fs/cpu/box/cpu.cfs_period_us", "100000\n");
  CHECK(groups.cores(8) == 2);
  groups.write("fs/cpu/box/cpu.cfs_quota_us", "-1\n");
  CHECK(groups.cores(8) == 8);
}

TEST_CASE("what cannot be read sets no limit to cores", "[host]") {
  const FakeGroups groups("0::/gone\nnonsense\n");
  CHECK(groups.cores(8) == 8);
  groups.write("fs/gone/cpu.max", "words and more\n");
  CHECK(groups.cores(8) == 8);
  groups.write("fs/gone/cpu.max", "0 100000\n");
  CHECK(groups.cores(8) == 8);
}

TEST_CASE("a thread that is bound to one core has one", "[host]") {
  int count = 0, bits = 0, threads = 0;
  std::thread([&] {
    cpu_set_t before, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof before, &before) != 0) return;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (!CPU_ISSET(core, &before)) continue;
      CPU_SET(core, &one);
      break;
    }
    if (sched_setaffinity(0, sizeof one, &one) != 0) return;
    count = usable_cores();
    threads = loop_threads();
    for (const std::uint64_t word : bound_cores()) bits += std::popcount(word);
  }).join();
  CHECK(count == 1);
  CHECK(bits == 1);
  CHECK(threads == 1);
}
