// Buffers: packed, checked, delivered.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/mpi/engine/collectives/buffers.hpp"

#include <cstring>
#include <functional>

namespace wormcube::mpi {

SendBuffer::SendBuffer(const Call& call, const void* data, std::size_t count,
                       const TypeView& type) {
  const Bytes bytes = call.elements(static_cast<std::int64_t>(count), type) * type.size;
  call.pointer(data, bytes, "the send buffer", type.first);
  if (type.dense) {
    data_ = {static_cast<const std::byte*>(data), bytes};
    return;
  }
  packed_.resize(bytes);
  pack(**type.type, data, bytes, packed_.data());
  data_ = packed_;
}

// Packs the current content, so that parts which receive nothing keep it.
void require_separate(ConstSpan given, ConstSpan taken) {
  const std::less<> is_before;
  if (given.empty() || taken.empty() || !is_before(given.data(), taken.data() + taken.size()) ||
      !is_before(taken.data(), given.data() + given.size()))
    return;
  throw Failure(
      MPI_ERR_BUFFER,
      given.data() == taken.data()
          ? "the send buffer and the receive buffer are the same; pass MPI_IN_PLACE"
          : "the send buffer and the receive buffer overlap; pass MPI_IN_PLACE, or another "
            "buffer");
}

ReceiveBuffer::ReceiveBuffer(const Call& call, void* data, std::size_t count, const TypeView& type)
    : elements_(data) {
  const Bytes bytes = call.elements(static_cast<std::int64_t>(count), type) * type.size;
  call.pointer(data, bytes, "the receive buffer", type.first);
  if (type.dense) {
    data_ = {static_cast<std::byte*>(data), bytes};
    return;
  }
  type_ = *type.type;
  packed_.resize(bytes);
  pack(*type_, data, bytes, packed_.data());
  data_ = packed_;
}

void ReceiveBuffer::deliver() const {
  if (type_) unpack(*type_, packed_.data(), packed_.size(), elements_);
}

Uneven::Uneven(const Call& call, const void* data, std::span<const Block> blocks,
               const char* name) {
  offsets_.reserve(blocks.size() + 1);
  offsets_.push_back(0);
  bool in_a_row = true;
  std::ptrdiff_t first = 0, next = 0;
  for (const Block& block : blocks) {
    const Bytes bytes =
        call.elements(static_cast<std::int64_t>(block.count), block.type) * block.type.size;
    if (bytes > 0) {
      call.pointer(data, bytes, name, block.place + block.type.first);
      if (offsets_.back() == 0) first = next = block.place;
      in_a_row = in_a_row && block.type.dense && block.place == next;
      next = block.place + static_cast<std::ptrdiff_t>(bytes);
    }
    offsets_.push_back(offsets_.back() + bytes);
  }
  if (in_a_row) {
    data_ = only_read({moved(data, first), offsets_.back()});
    return;
  }
  copied_.resize(offsets_.back());
  data_ = copied_;
  parts_.reserve(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Block& block = blocks[i];
    std::byte* const elements =
        moved(const_cast<void*>(data), block.place);  // NOLINT: only read, if data is
    parts_.push_back({elements, block.type.dense ? nullptr : *block.type.type});
    const Bytes bytes = offsets_[i + 1] - offsets_[i];
    if (bytes == 0) continue;
    if (parts_.back().type) {
      pack(*parts_.back().type, elements, bytes, copied_.data() + offsets_[i]);
    } else {
      std::memcpy(copied_.data() + offsets_[i], elements, bytes);
    }
  }
}

std::vector<Bytes> Uneven::sizes() const {
  std::vector<Bytes> all;
  for (std::size_t i = 0; i + 1 < offsets_.size(); ++i)
    all.push_back(offsets_[i + 1] - offsets_[i]);
  return all;
}

void Uneven::deliver() const {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Bytes bytes = offsets_[i + 1] - offsets_[i];
    if (bytes == 0) continue;
    if (parts_[i].type) {
      unpack(*parts_[i].type, copied_.data() + offsets_[i], bytes, parts_[i].elements);
    } else {
      std::memcpy(parts_[i].elements, copied_.data() + offsets_[i], bytes);
    }
  }
}

}  // namespace wormcube::mpi
