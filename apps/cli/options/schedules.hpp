// Schedules in their text form, read from files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/schedule/schedule.hpp"

#include <string>

namespace wormcube::cli {

/// The schedule that a file has as text, as `show --write-schedule` writes it; a pipe too.
/// Throws UsageError with the file and the line of what is none.
Schedule read_schedule(const std::string& file);

}  // namespace wormcube::cli
