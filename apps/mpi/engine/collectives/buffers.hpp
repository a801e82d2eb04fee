// The data of a call: elements of any layout as bytes in a row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/types/types.hpp"
#include "wormcube/runtime/node/node.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace wormcube::mpi {

/// What a rank gives, as bytes in a row.
class SendBuffer {
 public:
  SendBuffer(const Call& call, const void* data, std::size_t count, const TypeView& type);
  ConstSpan data() const { return data_; }

 private:
  std::vector<std::byte> packed_;
  ConstSpan data_;
};

/// Where a rank gets to, as bytes in a row; deliver() when they are there.
class ReceiveBuffer {
 public:
  ReceiveBuffer(const Call& call, void* data, std::size_t count, const TypeView& type);
  Span data() const { return data_; }
  void deliver() const;

 private:
  void* elements_;
  DatatypePointer type_;  ///< null: they lie in a row
  std::vector<std::byte> packed_;
  Span data_;
};

/// Throws Failure if what a rank gives and where it gets to are memory of both.
void require_separate(ConstSpan given, ConstSpan taken);

/// Blocks of their own sizes, places and types: in a row, where they lie so; else copied.
class Uneven {
 public:
  struct Block {
    std::size_t count;
    std::ptrdiff_t place;  ///< in bytes
    TypeView type;
  };
  Uneven(const Call& call, const void* data, std::span<const Block> blocks, const char* name);

  Blocks blocks() const { return {data_, std::span<const Bytes>(offsets_)}; }
  std::vector<Bytes> sizes() const;
  Bytes bytes() const { return offsets_.back(); }
  void deliver() const;

 private:
  struct Copied {
    std::byte* elements;
    DatatypePointer type;  ///< null: they lie in a row
  };
  std::vector<Copied> parts_;  ///< empty: nothing was copied
  std::vector<Bytes> offsets_;
  std::vector<std::byte> copied_;
  Span data_;
};

}  // namespace wormcube::mpi
