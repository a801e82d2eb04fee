// The text of a failed allocation, and the assertion for broken invariants.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"

#include <cstdio>
#include <cstdlib>

#include <fmt/core.h>

namespace wormcube {

OutOfMemory::OutOfMemory(std::size_t bytes) noexcept {
  fmt::format_to_n(text_.data(), text_.size() - 1, "no memory for {} bytes", bytes);
}

void assertion_failed(const char* expression, const char* file, int line) noexcept {
  std::fputs(
      fmt::format("wormcube: broken invariant at {}:{}: {}\n", file, line, expression).c_str(),
      stderr);
  std::abort();
}

}  // namespace wormcube
