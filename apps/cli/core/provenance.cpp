// How results were made.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/core/provenance.hpp"

#include "wormcube/apps/cli/output/results.hpp"
#include "wormcube/runtime/base/host/cores.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/version.hpp"

#include <array>
#include <cmath>
#include <ctime>
#include <string>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

namespace wormcube::cli {

namespace {

std::string command_line;
Json all_settings = Json::object();

}  // namespace

void set_command_line(int argc, const char* const* argv) {
  command_line.clear();
  std::string doing;
  for (int i = 0; i < argc; ++i) command_line += (i == 0 ? "" : " ") + std::string(argv[i]);
  for (int i = 1; i < argc; ++i) doing += (i == 1 ? "" : " ") + std::string(argv[i]);
  constexpr std::size_t most = 200;
  if (doing.size() > most) doing = doing.substr(0, most) + "...";
  Results::set_doing(std::move(doing));
}

void set_settings(Json all) { all_settings = std::move(all); }

Json made_json() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return {{"schema", 3},
          {"version", version},
          {"command", command_line},
          {"settings", all_settings},
          {"host", host.data()},
          {"cores", usable_cores()},
          {"memory_estimate_bytes", std::llround(expected_peak_memory())},
          {"memory_peak_bytes", std::llround(peak_memory())},
          {"date", fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900,
                               utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec)}};
}

}  // namespace wormcube::cli
