// Transposition of a matrix that is distributed by rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/common/distribution.hpp"
#include "wormcube/apps/common/exchange.hpp"
#include "wormcube/runtime/node/node.hpp"

namespace wormcube::apps {

/// An R x C matrix, row-major, its rows distributed over the nodes as evenly as possible.
struct MatrixShape {
  std::size_t rows = 0;
  std::size_t columns = 0;
  Bytes element_bytes = 0;

  MatrixShape transposed() const { return {columns, rows, element_bytes}; }
  /// The bytes of a node's rows.
  Bytes row_bytes(Rank node, Rank nodes) const {
    return Distribution{rows, nodes}.count(node) * columns * element_bytes;
  }
  /// The block of one pair of nodes, padded to the largest: ceil(R/p) x ceil(C/p) elements.
  Bytes padded_block_bytes(Rank nodes) const {
    return Distribution{rows, nodes}.largest() * Distribution{columns, nodes}.largest() *
           element_bytes;
  }
  /// The buffer that a node needs for its rows before and after.
  Bytes buffer_bytes(Rank node, Rank nodes) const {
    return std::max(row_bytes(node, nodes), transposed().row_bytes(node, nodes));
  }
  /// The bytes of padding that the p x p blocks of one exchange contain.
  Bytes padding(const Exchange& exchange, Rank nodes) const;
};

/// Transposes: node r's rows of the R x C matrix become its rows of the C x R one. More nodes than
/// rows are allowed.
///
/// \param node      this node; every node of the machine makes the same call
/// \param exchange  resolved; an alltoall algorithm gets blocks padded to ceil(R/p) x ceil(C/p), an
///                  alltoallv algorithm the exact ones
/// \param data      before: the node's rows; after: its rows of the transposed matrix; at least
///                  buffer_bytes()
///
/// Cost      one exchange; each element is packed (and transposed in its block) and unpacked once.
/// Source    A. Grama, A. Gupta, G. Karypis, V. Kumar, Introduction to Parallel Computing, 2003,
///           example 4.2.
/// Throws    UsageError, before any message, if the buffer is too short.
void transpose(Node& node, const Exchange& exchange, const MatrixShape& shape, Span data);

/// Transposes a rows x columns piece of a matrix into another: rows are `from_stride` and
/// `to_stride` bytes apart.
void transpose_local(const std::byte* from, Bytes from_stride, std::byte* to, Bytes to_stride,
                     std::size_t rows, std::size_t columns, Bytes element_bytes);

}  // namespace wormcube::apps
