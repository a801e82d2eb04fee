// Bytes and figures as text.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/units.hpp"

#include <algorithm>
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

std::string figure_text(double value) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{}", value);
  // Round first: 9999.6 becomes 10000, which needs no decimal.
  const double rounded = std::stod(fmt::format("{:.3e}", value));
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(rounded))));
  return exponent < -4 ? fmt::format("{:.3e}", rounded)
                       : fmt::format("{:.{}f}", rounded, std::max(0, 3 - exponent));
}

std::string count_text(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                              : figure_text(value);
}

}  // namespace wormcube
