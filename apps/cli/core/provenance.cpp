// The provenance of results.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/core/provenance.hpp"

#include "wormcube/runtime/base/host/cores.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/version.hpp"

#include <array>
#include <cmath>
#include <ctime>

#include <fmt/core.h>
#include <unistd.h>

namespace wormcube::cli {

Json provenance_json(const Context& context) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return {{"schema", 3},
          {"version", version},
          {"command", context.command_line()},
          {"settings", context.settings()},
          {"host", host.data()},
          {"cores", usable_cores()},
          {"memory_estimate_bytes", std::llround(expected_peak_memory())},
          {"memory_peak_bytes", std::llround(peak_memory())},
          {"date", fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900,
                               utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec)}};
}

}  // namespace wormcube::cli
