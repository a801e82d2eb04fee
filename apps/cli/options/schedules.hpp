// Schedules from files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/schedule/named.hpp"
#include "wormcube/runtime/schedule/schedule.hpp"

#include <string>

namespace wormcube::cli {

/// A schedule from a file of any format.
struct ScheduleFile {
  NamedSchedule named;
  std::string format;       ///< "wormcube schedule 2"
  std::string no_contents;  ///< why contents cannot be proved; empty: messages may have names
};

/// Reads a schedule from a file or a pipe; the content says which format it has. Throws UsageError
/// with the file and the line of a mistake.
ScheduleFile read_schedule_file(const std::string& file);
/// The same without the names of values.
Schedule read_schedule(const std::string& file);

}  // namespace wormcube::cli
