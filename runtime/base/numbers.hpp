// Numbers as text, and their codes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace wormcube {

/// The number that the whole text is, in decimal; nothing if it is none or does not fit.
template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The i-th word of the reflected Gray code.
template <class Integer>
constexpr Integer gray_code(Integer i) {
  return i ^ i >> 1;
}

}  // namespace wormcube
