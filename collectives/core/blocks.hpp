// A buffer cut into blocks: equal ones, or uneven ones by offsets.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/node/node.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

namespace wormcube {

/// One offset or more, ascending, none beyond this many bytes. Throws UsageError.
void require_offsets(std::span<const Bytes> offsets, Bytes bytes);

/// A view of `count` consecutive blocks. Movement needs no element type, so a block is bytes.
template <class Byte>
class BasicBlocks {
 public:
  /// Cuts `data` into `count` equal blocks. Throws UsageError if count does not divide its size.
  BasicBlocks(std::span<Byte> data, Rank count)
      : data_(data), count_(count), bytes_(count == 0 ? 0 : data.size() / count) {
    if (count < 0 || bytes_ * static_cast<Bytes>(count) != data.size()) {
      throw UsageError("blocks: " + std::to_string(data.size()) + " bytes cannot be cut into " +
                       std::to_string(count) + " equal blocks");
    }
  }
  /// Block b is data[offsets[b], offsets[b+1]): offsets has one entry more than there are blocks
  /// and outlives this. Throws UsageError unless they ascend within the data.
  BasicBlocks(std::span<Byte> data, std::span<const Bytes> offsets)
      : data_(data), offsets_(offsets), count_(static_cast<Rank>(offsets.size()) - 1) {
    require_offsets(offsets, data.size());
  }
  /// Blocks can always be read.
  template <class Other>
  requires(std::is_same_v<const Other, Byte>)
      BasicBlocks(const BasicBlocks<Other>& other)  // NOLINT(google-explicit-constructor)
      : data_(other.all()),
        offsets_(other.offsets()),
        count_(other.count()),
        bytes_(other.uneven() ? 0 : other.bytes()) {}

  Rank count() const { return count_; }
  /// The size of each block, if all have one size.
  Bytes bytes() const {
    WORMCUBE_ASSERT(!uneven());
    return bytes_;
  }
  bool uneven() const { return !offsets_.empty(); }
  std::span<const Bytes> offsets() const { return offsets_; }
  std::span<Byte> all() const { return data_; }

  std::span<Byte> operator[](Rank block) const { return range(block, 1); }
  /// `blocks` neighbouring blocks as one span.
  std::span<Byte> range(Rank first, Rank blocks) const {
    return data_.subspan(offset(first), offset(first + blocks) - offset(first));
  }

 private:
  Bytes offset(Rank block) const { return uneven() ? offsets_[block] : block * bytes_; }

  std::span<Byte> data_;
  std::span<const Bytes> offsets_;
  Rank count_ = 0;
  Bytes bytes_ = 0;
};

using Blocks = BasicBlocks<std::byte>;
using ConstBlocks = BasicBlocks<const std::byte>;

/// Receives block `from` of the result of a call that does not read it again: Op::unread().
inline Op receive_result(const Node& node, Rank from, const Blocks& result) {
  return receive(from, result[from]).unread(result.all().size() * static_cast<Bytes>(node.size()));
}

/// Bytes as elements: as<double>(memory). Throws UsageError unless they are whole elements,
/// aligned.
template <class T>
std::span<T> as(Span bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (bytes.size() % sizeof(T) != 0 ||
      reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(T) != 0) {
    throw UsageError("as: " + std::to_string(bytes.size()) + " bytes are not whole elements of " +
                     std::to_string(sizeof(T)) + " bytes, or not aligned");
  }
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

/// Copies one block (or any bytes) onto another of the same size, unless they are the same memory.
void copy(ConstSpan from, Span to);

/// The part-th of `parts` nearly equal parts of a block: sizes differ by one byte at most.
Span part(Span block, Rank part, Rank parts);
ConstSpan part(ConstSpan block, Rank part, Rank parts);

}  // namespace wormcube
