// Conversion between numbers and text, and the Gray code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>

namespace wormcube {

/// The decimal number that the whole text is; nothing if it is not a number or does not fit.
template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Removes the number at the front of a text and returns it. Returns nothing, and removes nothing,
/// if there is no number or it does not fit.
template <class Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// The i-th word of the reflected Gray code.
template <class Integer>
constexpr Integer gray_code(Integer i) {
  return i ^ i >> 1;
}

}  // namespace wormcube
