// Private memory of a node.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/node/op.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace wormcube {

class Node;

/// What a piece of private memory is for. Papers count the blocks that an algorithm holds; what
/// only bridges one message (staging) is counted in bytes, but is not a claim of theirs.
enum class Purpose : std::uint8_t { blocks, staging };

/// The most that a node can ask for at once: the address space of today's computers.
inline constexpr Bytes most_memory = Bytes{1} << 47;

/// Private memory of a node, returned when it goes out of scope. Touch it inside local() only.
class Memory {
 public:
  Memory(Node& node, Bytes bytes, Purpose purpose);
  ~Memory();
  Memory(Memory&& other) noexcept
      : node_(other.node_), data_(std::exchange(other.data_, {})), purpose_(other.purpose_) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Memory& operator=(Memory&&) = delete;

  operator Span() const { return data_; }       // NOLINT(google-explicit-constructor)
  operator ConstSpan() const { return data_; }  // NOLINT(google-explicit-constructor)
  Span span() const { return data_; }
  Span subspan(Bytes offset, Bytes count) const { return data_.subspan(offset, count); }
  std::byte* data() const { return data_.data(); }
  Bytes size() const { return data_.size(); }

 private:
  Node* node_;
  Span data_;
  Purpose purpose_;
};

}  // namespace wormcube
