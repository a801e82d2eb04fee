// Bytes as text.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/units.hpp"

#include <array>
#include <cmath>
#include <string_view>

#include <fmt/core.h>

namespace wormcube {

namespace {

/// Divides by 1024 until a number is below the limit; returns the unit.
std::string_view scale(double& bytes, double limit) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  for (; bytes >= limit && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return units[unit];
}

}  // namespace

std::string memory_text(double bytes) {
  constexpr double limit = 999.5;  // would be printed as 1e+03
  const std::string_view unit = scale(bytes, limit);
  if (bytes >= limit) return fmt::format("{:.3g} {}", bytes, unit);
  const int decimals = unit == "B" || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", bytes, decimals, unit);
}

std::string bytes_text(double bytes) {
  const std::string_view unit = scale(bytes, 1024);
  return fmt::format("{:.{}f} {}", bytes, bytes == std::floor(bytes) ? 0 : 2, unit);
}

}  // namespace wormcube
