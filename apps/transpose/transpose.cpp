// Transposition of a matrix that is distributed by rows: pack, exchange, unpack.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/transpose/transpose.hpp"

#include "wormcube/collectives/core/blocks.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <cstring>
#include <vector>

#include <fmt/core.h>

namespace wormcube::apps {

namespace {

// A tile of 16 x 16 elements of 16 bytes is 4 KiB on each side: both fit in any L1 cache, and a row
// of it is a whole number of lines.
constexpr std::size_t tile = 16;

// The size as a constant makes each element one load and one store.
template <Bytes element>
void transpose_tiles(const std::byte* from, Bytes from_stride, std::byte* to, Bytes to_stride,
                     std::size_t rows, std::size_t columns) {
  for (std::size_t row = 0; row < rows; row += tile) {
    const std::size_t row_end = std::min(row + tile, rows);
    for (std::size_t column = 0; column < columns; column += tile) {
      const std::size_t column_end = std::min(column + tile, columns);
      for (std::size_t j = column; j < column_end; ++j) {
        for (std::size_t i = row; i < row_end; ++i) {
          std::memcpy(to + j * to_stride + i * element, from + i * from_stride + j * element,
                      element);
        }
      }
    }
  }
}

// How the matrix is cut into blocks, for this node.
class Cut {
 public:
  Cut(const MatrixShape& shape, Rank node, Rank nodes, bool exact)
      : rows_{shape.rows, nodes},
        columns_{shape.columns, nodes},
        element_(shape.element_bytes),
        node_(node),
        block_(shape.padded_block_bytes(nodes)) {
    if (!exact) return;
    for (Rank q = 0; q < nodes; ++q) {
      sent_.push_back(sent_.back() + out_bytes(q));
      received_.push_back(received_.back() + in_bytes(q));
    }
  }

  Bytes sent() const { return total(sent_); }
  Bytes received() const { return total(received_); }
  Blocks outgoing(Span data) const { return cut(data, sent_); }
  Blocks incoming(Span data) const { return cut(data, received_); }

  // Packs this node's rows: block q holds the columns of node q, transposed.
  void pack(const std::byte* matrix, const Blocks& out) const {
    const std::size_t rows = rows_.count(node_);
    for (Rank q = 0; q < out.count(); ++q) {
      if (rows > 0) {  // a node without rows has no matrix either
        transpose_local(matrix + columns_.first(q) * element_, columns_.items * element_,
                        out[q].data(), rows * element_, rows, columns_.count(q), element_);
      }
      std::ranges::fill(out[q].subspan(out_bytes(q)), std::byte{0});  // the padding
    }
  }

  // Block q holds this node's rows of the transposed matrix, as far as they come from node q.
  void unpack(const Blocks& in, std::byte* transposed) const {
    for (Rank q = 0; q < in.count(); ++q) {
      const Bytes run = rows_.count(q) * element_;
      if (run == 0) break;
      for (std::size_t j = 0; j < columns_.count(node_); ++j) {
        std::memcpy(transposed + (j * rows_.items + rows_.first(q)) * element_,
                    in[q].data() + j * run, run);
      }
    }
  }

 private:
  Bytes out_bytes(Rank q) const { return rows_.count(node_) * columns_.count(q) * element_; }
  Bytes in_bytes(Rank q) const { return rows_.count(q) * columns_.count(node_) * element_; }
  bool exact() const { return sent_.size() > 1; }
  Bytes total(const std::vector<Bytes>& offsets) const {
    return exact() ? offsets.back() : block_ * static_cast<Bytes>(rows_.nodes);
  }
  Blocks cut(Span data, const std::vector<Bytes>& offsets) const {
    return exact() ? Blocks(data, std::span<const Bytes>(offsets)) : Blocks(data, rows_.nodes);
  }

  Distribution rows_, columns_;
  Bytes element_;
  Rank node_;
  Bytes block_;                               // of every pair, unless exact
  std::vector<Bytes> sent_{0}, received_{0};  // offsets, if exact
};

}  // namespace

Bytes MatrixShape::padding(const Exchange& exchange, Rank nodes) const {
  if (exchange.uneven()) return 0;
  const auto p = static_cast<Bytes>(nodes);
  return p * p * padded_block_bytes(nodes) - rows * columns * element_bytes;
}

void transpose(Node& node, const Exchange& exchange, const MatrixShape& shape, Span data) {
  const Rank p = node.size(), r = node.rank();
  if (data.size() < shape.buffer_bytes(r, p)) {
    throw UsageError(fmt::format("transpose: node {} has {} bytes for its rows, needs {}", r,
                                 data.size(), shape.buffer_bytes(r, p)));
  }
  const Cut cut(shape, r, p, exchange.uneven());
  const Memory sent = node.memory(cut.sent()), received = node.memory(cut.received());

  node.phase("pack");
  node.rearrange(shape.row_bytes(r, p), [&] { cut.pack(data.data(), cut.outgoing(sent)); });
  node.phase("exchange");
  exchange(node, cut.outgoing(sent), cut.incoming(received));
  node.phase("unpack");
  node.rearrange(shape.transposed().row_bytes(r, p),
                 [&] { cut.unpack(cut.incoming(received), data.data()); });
}

void transpose_local(const std::byte* from, Bytes from_stride, std::byte* to, Bytes to_stride,
                     std::size_t rows, std::size_t columns, Bytes element_bytes) {
  switch (element_bytes) {
    case 1:
      return transpose_tiles<1>(from, from_stride, to, to_stride, rows, columns);
    case 2:
      return transpose_tiles<2>(from, from_stride, to, to_stride, rows, columns);
    case 4:
      return transpose_tiles<4>(from, from_stride, to, to_stride, rows, columns);
    case 8:
      return transpose_tiles<8>(from, from_stride, to, to_stride, rows, columns);
    case 16:
      return transpose_tiles<16>(from, from_stride, to, to_stride, rows, columns);
    default:
      throw UsageError(
          fmt::format("transpose: elements of {} bytes; need 1, 2, 4, 8 or 16", element_bytes));
  }
}

}  // namespace wormcube::apps
