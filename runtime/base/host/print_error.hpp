// Standard error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace wormcube {

/// Writes to standard error. Text that cannot be written (the stream is closed or full, or a pipe
/// has no reader) is lost: there is no other place to report it, and the exit code still says how
/// the program ended.
void print_error(std::string_view text) noexcept;

}  // namespace wormcube
