// Numbers as the page reads them: LEB128, deflated, in base64.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wormcube::apps {

/// Packed numbers in the page's format: {"enc", "count", "data"}.
struct Packed {
  std::string_view encoding = "raw";  ///< or "deflate"
  std::size_t count = 0;              ///< how many numbers
  std::string data;                   ///< base64
};

class Packer {
 public:
  void put(std::uint64_t number) {
    ++count_;
    for (; number >= 128; number >>= 7) bytes_.push_back(static_cast<char>(number | 128));
    bytes_.push_back(static_cast<char>(number));
  }
  /// Zigzag encoding: small numbers of either sign are short.
  void put_signed(std::int64_t number) {
    put(static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63));
  }
  std::size_t bytes() const { return bytes_.size(); }
  /// Raw deflate (RFC 1951) if that is shorter.
  Packed packed() const;

 private:
  std::string bytes_;
  std::size_t count_ = 0;
};

std::string base64(std::string_view bytes);

}  // namespace wormcube::apps
