// Standard error.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/host/print_error.hpp"

#include <cstdio>

namespace wormcube {

void print_error(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace wormcube
