// Schedules from files.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/schedules.hpp"

#include "wormcube/apps/io/read_once.hpp"
#include "wormcube/apps/io/text.hpp"
#include "wormcube/collectives/harness/schedule_goal.hpp"
#include "wormcube/runtime/base/host/memory.hpp"
#include "wormcube/runtime/schedule/text.hpp"
#include "wormcube/runtime/schedule/text_words.hpp"

#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/core.h>

namespace wormcube::cli {

ScheduleFile read_schedule_file(const std::string& file) {
  return apps::read_once(file, [](const std::string& name) {
    if (apps::kind_of_file(name) != apps::FileKind::text)
      throw UsageError(fmt::format("{}: a .npy file; expected a schedule's text", name));
    std::ifstream stream(name, std::ios::binary);
    std::ostringstream buffer;
    buffer << stream.rdbuf();
    const std::string text = buffer.str();
    const double most_bytes = available_memory().bytes / 2;
    if (is_named_schedule(text)) {
      return ScheduleFile{parse_named_schedule(text, name, operation_facts, most_bytes),
                          std::string(named_schedule_first_line), ""};
    }
    return ScheduleFile{without_names(parse_schedule(text, name, most_bytes)),
                        std::string(schedule_first_line), "a schedule has sizes and no contents"};
  });
}

Schedule read_schedule(const std::string& file) {
  return std::move(read_schedule_file(file).named.schedule);
}

}  // namespace wormcube::cli
