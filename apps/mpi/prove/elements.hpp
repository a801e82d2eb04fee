// A buffer of marked elements, with bytes between and around them that nobody may write.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/prove/marks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace wormcube::mpi {

/// Where the eight bytes of a handle lie in an element.
struct ElementLayout {
  std::size_t extent = sizeof(Handle), offset = 0;
};

class Elements {
 public:
  Elements() : Elements({}, 0, 0) {}
  /// \param salt  so that the other bytes of two buffers differ
  /// \param least_extent  there is room for elements of this extent, too
  Elements(ElementLayout layout, std::size_t count, unsigned salt, std::size_t least_extent = 0)
      : layout_(layout),
        count_(count),
        salt_(salt),
        bytes_(count * std::max(layout.extent, least_extent) + 2 * guard) {
    for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = pattern(i);
  }

  std::size_t count() const { return count_; }
  /// Whether a byte that belongs to no element lies between those of elements.
  bool is_in_gap(std::ptrdiff_t byte) const {
    return byte >= 0 && byte < static_cast<std::ptrdiff_t>(count_ * layout_.extent);
  }
  void* data() { return bytes_.data() + guard; }
  Handle operator[](std::size_t i) const {
    Handle handle = 0;
    std::memcpy(&handle, bytes_.data() + place(i), sizeof handle);
    return handle;
  }
  void set(std::size_t i, Handle handle) {
    std::memcpy(bytes_.data() + place(i), &handle, sizeof handle);
  }

  /// The first byte outside the elements that was written, from the buffer's begin.
  std::optional<std::ptrdiff_t> written_gap() const {
    std::size_t next = 0;  // element
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      if (next < count_ && i == place(next)) {
        i += sizeof(Handle) - 1;
        ++next;
      } else if (bytes_[i] != pattern(i)) {
        return static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(guard);
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t guard = 64;
  std::byte pattern(std::size_t i) const { return static_cast<std::byte>(i * 37 + salt_); }
  std::size_t place(std::size_t i) const { return guard + i * layout_.extent + layout_.offset; }

  ElementLayout layout_;
  std::size_t count_ = 0;
  unsigned salt_ = 0;
  std::vector<std::byte> bytes_;
};

}  // namespace wormcube::mpi
