// Standard error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace wormcube {

/// Writes to standard error. What cannot be written (the stream is closed, full, or a pipe that
/// nobody reads) is lost: there is nowhere left to report it, and the exit code still says how the
/// program ended.
void print_error(std::string_view text) noexcept;

}  // namespace wormcube
