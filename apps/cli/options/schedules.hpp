// Schedules in their text form, read from files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/schedule/schedule.hpp"

#include <string>

namespace wormcube::cli {

/// Reads the text form that `show --write-schedule` writes, from a file or a pipe. Throws
/// UsageError with the file and the line of a mistake.
Schedule read_schedule(const std::string& file);

}  // namespace wormcube::cli
