// Keys of all types as unsigned numbers in the same order: lists of ten types are sorted as four.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/io/array.hpp"

#include <concepts>
#include <cstdint>
#include <limits>
#include <string_view>

namespace wormcube::apps {

/// The unsigned number (code) of a key: key a is less than key b exactly if its code is, and every
/// bit pattern has a code of its own, so that -0 comes before 0.
///
/// A signed number's code has its sign bit flipped. A floating-point number's pattern is its sign
/// and its magnitude: a positive one has the sign bit flipped, a negative one every bit.
template <std::unsigned_integral Code>
class KeyOrder {
 public:
  explicit KeyOrder(ElementType type)
      : flipped_(is_unsigned(type) ? 0 : sign),
        if_negative_(is_floating(type) ? static_cast<Code>(~sign) : Code{0}) {}

  /// \param pattern  the key's bits
  Code code(Code pattern) const {
    return static_cast<Code>(pattern ^ flipped_ ^ ((pattern & sign) != 0 ? if_negative_ : 0));
  }
  Code pattern(Code code) const {
    return static_cast<Code>(code ^ flipped_ ^ ((code & sign) == 0 ? if_negative_ : 0));
  }
  /// Whether a comes before b although they compare as equal: -0 and 0.
  bool are_zeros(Code a, Code b) const {
    return if_negative_ != 0 && a == static_cast<Code>(sign - 1) && b == sign;
  }

 private:
  static constexpr Code sign = std::numeric_limits<Code>::max() / 2 + 1;

  static bool is_floating(ElementType type) {
    return type == ElementType::float32 || type == ElementType::float64;
  }
  static bool is_unsigned(ElementType type) {
    return type == ElementType::uint8 || type == ElementType::uint16 ||
           type == ElementType::uint32 || type == ElementType::uint64;
  }

  Code flipped_, if_negative_;  // bits: of every key, and of one whose sign bit is set
};

/// act(Code{}) for codes as wide as the type. Throws UsageError for complex elements.
template <class Act>
decltype(auto) with_code(ElementType type, std::string_view what, Act act) {
  switch (with_real_type(type, what, []<class T>(T) { return sizeof(T); })) {
    case 1:
      return act(std::uint8_t{});
    case 2:
      return act(std::uint16_t{});
    case 4:
      return act(std::uint32_t{});
    default:
      return act(std::uint64_t{});
  }
}

}  // namespace wormcube::apps
