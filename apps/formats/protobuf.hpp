// The wire format of Protocol Buffers: fields with a number, and a number or bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wormcube::apps {

/// Reads fields from bytes; every function returns nothing at the end and for damaged bytes.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    constexpr int most_bits = 64, bits = 7;
    for (int shift = 0; shift < most_bits && !rest_.empty(); shift += bits) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::optional<std::string_view> bytes(std::uint64_t size) {
    if (size > rest_.size()) return std::nullopt;
    const std::string_view result = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return result;
  }
  /// A length, and that number of bytes.
  std::optional<std::string_view> delimited() {
    const auto size = varint();
    return size ? bytes(*size) : std::nullopt;
  }

  struct Field {
    std::uint32_t number = 0;
    std::optional<std::uint64_t> value = {};  ///< of a number
    std::string_view content = {};            ///< of a string, message or list
  };
  std::optional<Field> field() {
    const auto tag = varint();
    if (!tag || *tag >> 3 == 0 || *tag >> 3 > most_number) return std::nullopt;
    Field result{.number = static_cast<std::uint32_t>(*tag >> 3)};
    enum Kind : std::uint8_t { number = 0, fixed_64 = 1, delimited_bytes = 2, fixed_32 = 5 };
    switch (*tag & 7) {
      case number:
        result.value = varint();
        return result.value ? std::optional(result) : std::nullopt;
      case fixed_64:
        return content(result, bytes(8));
      case delimited_bytes:
        return content(result, delimited());
      case fixed_32:
        return content(result, bytes(4));
      default:
        return std::nullopt;
    }
  }

 private:
  static constexpr std::uint64_t most_number = (1U << 29) - 1;
  static std::optional<Field> content(Field field, std::optional<std::string_view> bytes) {
    if (!bytes) return std::nullopt;
    field.content = *bytes;
    return field;
  }
  std::string_view rest_;
};

/// Writes fields.
class WireWriter {
 public:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>((value & 0x7f) | 0x80);
    text_ += static_cast<char>(value);
  }
  void number(std::uint32_t field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3);
    varint(value);
  }
  void bytes(std::uint32_t field, std::string_view content) {
    varint(std::uint64_t{field} << 3 | 2);
    delimited(content);
  }
  void delimited(std::string_view content) {
    varint(content.size());
    text_ += content;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace wormcube::apps
