// Matrix-vector product on a grid of nodes: broadcasts along columns, reductions along rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/common/distribution.hpp"
#include "wormcube/collectives/core/registry.hpp"
#include "wormcube/runtime/node/node.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace wormcube::apps {

/// A network as a grid of rows x columns nodes: node (i, j) has rank i x columns + j. The rows of
/// the grid run along the network's last dimensions, the columns along its first ones.
class NodeGrid {
 public:
  /// Cuts the dimensions where the grid is closest to a square; among equal ones, where it has more
  /// rows.
  explicit NodeGrid(const Topology& topology);

  Rank rows() const { return rows_; }
  Rank columns() const { return columns_; }
  /// The dimensions along a column of the grid, and along a row.
  const std::vector<int>& column_dimensions() const { return column_dimensions_; }
  const std::vector<int>& row_dimensions() const { return row_dimensions_; }
  /// The network of one column, of one row.
  const Topology& column_network() const { return column_network_; }
  const Topology& row_network() const { return row_network_; }

 private:
  std::vector<int> column_dimensions_, row_dimensions_;
  Topology column_network_, row_network_;
  Rank rows_, columns_;
};

/// Where the vectors lie. `edge`: x on the first row of the grid, the result on its first column.
/// `diagonal`: block j of x on row j modulo the rows, block i of the result on column i modulo the
/// columns; on a square grid both lie on the diagonal, so that a result can be the next x.
enum class VectorsOn : std::uint8_t { edge, diagonal };
/// Throws UsageError that lists both.
VectorsOn parse_vectors_on(std::string_view text);

/// A rows x columns matrix in blocks over a grid of nodes, with vectors in blocks to match.
struct MatvecPlan {
  NodeGrid grid;
  Distribution rows, columns;  ///< of the matrix over the grid's
  VectorsOn vectors_on;
  /// The algorithms; one that is not called (a grid of one row or one column) is empty.
  Collective broadcast, reduce;

  /// The row of the grid that has x's block j, and the column that gets the result's block i.
  Rank source(Rank j) const { return vectors_on == VectorsOn::edge ? 0 : j % grid.rows(); }
  Rank sink(Rank i) const { return vectors_on == VectorsOn::edge ? 0 : i % grid.columns(); }
  /// Blocks of vectors are padded to the largest, so that all columns (rows) take the same steps.
  Bytes x_block_bytes() const { return columns.largest() * sizeof(double); }
  Bytes y_block_bytes() const { return rows.largest() * sizeof(double); }
};

/// One node's part of y = A x.
///
/// \param node    this node; every node of the machine makes the same call
/// \param matrix  its block of A: row-major, rows.count(i) x columns.count(j) doubles
/// \param x       x_block_bytes(): at the source of column j x's block j, zeros behind it; the
///                others receive it
/// \param y       y_block_bytes() at the sink of row i, which gets the result's block i; elsewhere
///                nothing
///
/// Cost      one broadcast of a block of x along the columns, 2 R C / p operations, one reduction
///           of a block of y along the rows, with blocks of n / sqrt(p) elements on a square grid:
///           (ts + tw n / sqrt(p)) log p + n^2 / p.
/// Links     columns and rows run at once, each over separate links.
/// Source    A. Grama, A. Gupta, G. Karypis, V. Kumar, Introduction to Parallel Computing, 2003,
///           example 4.1; blocks: sec. 8.1.2.
void matvec(Node& node, const MatvecPlan& plan, ConstSpan matrix, Span x, Span y);

}  // namespace wormcube::apps
