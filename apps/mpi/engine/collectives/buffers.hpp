// The data of a call: elements of any layout as packed bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/mpi/engine/core/calls.hpp"
#include "wormcube/apps/mpi/engine/types/types.hpp"
#include "wormcube/runtime/node/node.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace wormcube::mpi {

/// The data that a rank contributes, as packed bytes.
class SendBuffer {
 public:
  SendBuffer(const Call& call, const void* data, std::size_t count, const TypeView& type);
  ConstSpan data() const { return data_; }

 private:
  std::vector<std::byte> packed_;
  ConstSpan data_;
};

/// Where a rank receives, as packed bytes; call deliver() when they have arrived.
class ReceiveBuffer {
 public:
  ReceiveBuffer(const Call& call, void* data, std::size_t count, const TypeView& type);
  Span data() const { return data_; }
  void deliver() const;

 private:
  void* elements_;
  DatatypePointer type_;  ///< null: the elements are contiguous
  std::vector<std::byte> packed_;
  Span data_;
};

/// Throws Failure if a rank's send buffer and receive buffer overlap.
void require_separate(ConstSpan given, ConstSpan taken);

/// Blocks with individual sizes, positions and types: used in place if contiguous, else copied.
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
    DatatypePointer type;  ///< null: the elements are contiguous
  };
  std::vector<Copied> parts_;  ///< empty: nothing was copied
  std::vector<Bytes> offsets_;
  std::vector<std::byte> copied_;
  Span data_;
};

}  // namespace wormcube::mpi
