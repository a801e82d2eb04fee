// The exit codes, which scripts rely on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace wormcube::cli {

enum ExitCode : int { passed = 0, failed = 1, usage = 2, deadlock = 3, time_limit = 4 };

}  // namespace wormcube::cli
