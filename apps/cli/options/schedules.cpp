// Schedules from files.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/schedules.hpp"

#include "wormcube/apps/io/read_once.hpp"
#include "wormcube/apps/io/text.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/schedule/text.hpp"

#include <fstream>
#include <sstream>

#include <fmt/core.h>

namespace wormcube::cli {

Schedule read_schedule(const std::string& file) {
  return apps::read_once(file, [](const std::string& name) {
    if (apps::kind_of_file(name) != apps::FileKind::text)
      throw UsageError(fmt::format("{}: a .npy file; expected a schedule's text", name));
    std::ifstream stream(name, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return parse_schedule(text.str(), name, available_memory().bytes / 2);
  });
}

}  // namespace wormcube::cli
