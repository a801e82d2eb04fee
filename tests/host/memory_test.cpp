// Available memory: the least of the computer's, the process's and the cgroups' limits, by name.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/host/memory.hpp"

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/base/units.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include <catch2/catch.hpp>
#include <sys/resource.h>
#include <unistd.h>

using namespace wormcube;
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

namespace {

constexpr double gibibyte = 1024.0 * 1024 * 1024;

/// A folder with files as the kernel shows them; removed at the end.
class FakeKernel {
 public:
  FakeKernel() {
    static int next = 0;
    root_ = std::filesystem::temp_directory_path() /
            ("wormcube-kernel-" + std::to_string(getpid()) + "-" + std::to_string(next++));
    write("meminfo", "MemTotal: 33554432 kB\nMemFree: 1 kB\nMemAvailable: 16777216 kB\n");
    write("status", "Name:\twormcube\nVmSize:\t 2097152 kB\nVmData:\t 1048576 kB\n");
    write("cgroup", "");
  }
  ~FakeKernel() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  FakeKernel(const FakeKernel&) = delete;
  FakeKernel& operator=(const FakeKernel&) = delete;

  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  MemorySources sources() const {
    MemorySources sources;
    sources.meminfo = root_ / "meminfo";
    sources.status = root_ / "status";
    sources.cgroup = root_ / "cgroup";
    sources.cgroup_root = root_ / "fs";
    return sources;
  }
  AvailableMemory available() const { return available_memory(sources()); }

 private:
  std::filesystem::path root_;
};

}  // namespace

TEST_CASE("without limits what is available is MemAvailable", "[host][memory]") {
  const FakeKernel kernel;
  CHECK(kernel.available().bytes == 16 * gibibyte);
  CHECK(kernel.available().limit == "MemAvailable");
}

TEST_CASE("where addresses are limited a loop takes the threads that they have room for",
          "[host][memory]") {
  const FakeKernel kernel;
  MemorySources sources = kernel.sources();
  const int cores = loop_threads(sources);
  CHECK(cores >= 1);
  constexpr std::uint64_t mebibyte = 1 << 20, used = 2048 * mebibyte;  // as the test above has it
  const auto with = [&](std::uint64_t left_mebibytes) {
    sources.address_space = used + left_mebibytes * mebibyte;
    return loop_threads(sources);
  };
  CHECK(with(0) == 1);
  CHECK(with(300) == 1);
  CHECK(with(400) == std::min(2, cores));
  CHECK(with(100000) == std::min(313, cores));
  sources.address_space = 1;  // used up already
  CHECK(loop_threads(sources) == 1);
  sources.address_space.reset();
  const auto with_data = [&](std::uint64_t left_mebibytes) {
    sources.data = 1024 * mebibyte + left_mebibytes * mebibyte;
    return loop_threads(sources);
  };
  CHECK(with_data(0) == 1);
  CHECK(with_data(30) == 1);
  CHECK(with_data(40) == std::min(2, cores));
  CHECK(with_data(10000) == std::min(313, cores));
}

TEST_CASE("a limit of the process counts less what the process uses", "[host][memory]") {
  const FakeKernel kernel;
  MemorySources sources = kernel.sources();
  sources.address_space = std::uint64_t{5} << 30;
  CHECK(available_memory(sources).bytes == 3 * gibibyte);
  CHECK_THAT(available_memory(sources).limit, Contains("RLIMIT_AS") && Contains("ulimit -v"));
  sources.data = std::uint64_t{2} << 30;
  CHECK(available_memory(sources).bytes == gibibyte);
  CHECK_THAT(available_memory(sources).limit, Contains("RLIMIT_DATA") && Contains("ulimit -d"));
  sources.data = 1;  // used up already
  CHECK(available_memory(sources).bytes == 0);
}

TEST_CASE("a cgroup of version 2 limits, and so does each group above it", "[host][memory]") {
  const FakeKernel kernel;
  kernel.write("cgroup", "0::/slurm/job_7/step_0\n");
  kernel.write("fs/slurm/job_7/step_0/memory.max", "max\n");
  kernel.write("fs/slurm/job_7/step_0/memory.current", "1\n");
  kernel.write("fs/slurm/job_7/memory.max", "8589934592\n");
  kernel.write("fs/slurm/job_7/memory.current", "3221225472\n");
  CHECK(kernel.available().bytes == 5 * gibibyte);
  CHECK(kernel.available().limit == "cgroup memory.max");
  // Files in the page cache are given back when they are in the way.
  kernel.write("fs/slurm/job_7/memory.stat", "anon 5\ninactive_file 1073741824\nfile 9\n");
  CHECK(kernel.available().bytes == 6 * gibibyte);
  kernel.write("fs/memory.max", "1073741824\n");  // a container's own root
  CHECK(kernel.available().bytes == gibibyte);
}

TEST_CASE("a cgroup of version 1 limits, whatever it shares its line with", "[host][memory]") {
  const FakeKernel kernel;
  kernel.write("cgroup", "5:cpu,cpuacct:/a\n4:hugetlb,memory:/docker/17\n0::/elsewhere\n");
  const std::string group = "fs/memory/docker/17/";
  kernel.write(group + "memory.limit_in_bytes", "9223372036854771712\n");  // none
  kernel.write(group + "memory.usage_in_bytes", "1\n");
  CHECK(kernel.available().limit == "MemAvailable");
  kernel.write(group + "memory.limit_in_bytes", "4294967296\n");
  kernel.write(group + "memory.usage_in_bytes", "3221225472\n");
  kernel.write(group + "memory.stat", "cache 9\ntotal_inactive_file 1073741824\n");
  CHECK(kernel.available().bytes == 2 * gibibyte);
  CHECK(kernel.available().limit == "cgroup memory.limit_in_bytes");
}

TEST_CASE("in a container the root's limit counts though the path is the host's",
          "[host][memory]") {
  const FakeKernel kernel;
  kernel.write("cgroup", "4:memory:/docker/17\n");
  kernel.write("fs/memory/memory.limit_in_bytes", "2147483648");
  kernel.write("fs/memory/memory.usage_in_bytes", "0");
  CHECK(kernel.available().bytes == 2 * gibibyte);
  kernel.write("cgroup", "0::/../../else\n");  // a group outside the namespace
  kernel.write("fs/memory.max", "1073741824");
  CHECK(kernel.available().bytes == gibibyte);
}

TEST_CASE("what cannot be read sets no limit", "[host][memory]") {
  const FakeKernel kernel;
  kernel.write("cgroup", "nonsense\n0:\n::\n0::/gone\n");
  kernel.write("fs/memory.max", "a lot\n");
  CHECK(kernel.available().limit == "MemAvailable");
  kernel.write("meminfo", "MemTotal: many kB\n");
  CHECK(std::isinf(kernel.available().bytes));
  CHECK_NOTHROW(require_memory("x", 1e30, "y", kernel.available()));
}

TEST_CASE("more memory than is available is refused with both figures, the limit and advice",
          "[host][memory]") {
  const AvailableMemory four{4.1 * gibibyte, "cgroup memory.max"};
  CHECK_NOTHROW(require_memory("fft", 4.1 * gibibyte, "use less", four));
  try {
    require_memory("fft of 1024", 12.3 * gibibyte, "use a shorter signal", four);
    FAIL("accepted");
  } catch (const UsageError& error) {
    CHECK_THAT(error.what(), Equals("fft of 1024 needs 12.3 GiB of memory, 4.10 GiB is available "
                                    "(cgroup memory.max); use a shorter signal"));
  }
  CHECK_THROWS_AS(require_memory("x", std::numeric_limits<double>::quiet_NaN(), "y", four),
                  UsageError);
}

TEST_CASE("this process has memory, and a limit set on it is seen", "[host][memory]") {
  const AvailableMemory before = available_memory();
  CHECK(before.bytes > 1 << 20);
  CHECK(before.bytes < 1e18);
  rlimit old{};
  REQUIRE(getrlimit(RLIMIT_DATA, &old) == 0);
  rlimit small = old;
  small.rlim_cur = 1;
  REQUIRE(setrlimit(RLIMIT_DATA, &small) == 0);
  const MemorySources sources = MemorySources::of_this_process();
  REQUIRE(setrlimit(RLIMIT_DATA, &old) == 0);
  CHECK(sources.data == 1);
}

TEST_CASE("sizes have three digits and the unit that fits", "[host][memory]") {
  CHECK(memory_text(0) == "0 B");
  CHECK(memory_text(17) == "17 B");
  CHECK(memory_text(1000) == "0.98 KiB");
  CHECK(memory_text(1536) == "1.50 KiB");
  CHECK(memory_text(12.34 * gibibyte) == "12.3 GiB");
  CHECK(memory_text(512.0 * 1024 * 1024) == "512 MiB");
}
